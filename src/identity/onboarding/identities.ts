import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { statementsOf } from '../../kernel/database/entity-statements.ts'
import { scheduleOnboardingReview, wakeOnboardingProcess } from './advance.ts'
import { isOnboardingOpen, Onboarding } from './company-onboarding.ts'
import {
  missingOnboardingItems,
  Representative,
  type RepresentativeIdentityStatus,
  representativeIdentityMachine,
} from './company-people.ts'
import { loadOnboardingPeople, lockOwnOnboarding, type OnboardingWithPeople } from './find.ts'

export type FoundRepresentative = Readonly<
  Pick<Representative, 'id' | 'onboardingId' | 'name' | 'dateOfBirth' | 'country' | 'status'>
>

export async function findRepresentative(
  id: string,
  { em }: ReadContext,
): Promise<FoundRepresentative | null> {
  const person = await em.findOne(Representative, { id })
  if (!person || person.removedAt) return null
  return isOnboardingOpen(await em.findOneOrFail(Onboarding, { id: person.onboardingId })) ? person : null
}

/**
 * Records the identity status of a representative. Locks the onboarding, whose run moves it into review once
 * every representative has submitted documents.
 */
export async function recordIdentityStatus(
  context: WriteContext,
  {
    representativeId,
    status,
  }: { readonly representativeId: string; readonly status: RepresentativeIdentityStatus },
): Promise<void> {
  const { em, now } = context
  const found = await em.findOneOrFail(Representative, { id: representativeId })
  const submission = await lockOwnOnboarding(found.onboardingId, context)
  if (!submission) throw new Error('a representative without an onboarding')
  const person = submission.representatives.find(({ id }) => id === representativeId)
  if (
    !person ||
    !representativeIdentityMachine.move(person, status) ||
    !isOnboardingOpen(submission.onboarding)
  )
    return
  scheduleOnboardingReview(submission, now)
  wakeOnboardingProcess(submission, context)
}

const NEWEST = 'where owner_id = $1 and mode = $2 order by id desc limit 1'

export async function missingCompanyItems(sql: Sql, { ownerId, mode }: Tenant): Promise<string[]> {
  const newest = await sql<Onboarding & Row>(statementsOf(Onboarding).selecting(NEWEST), [ownerId, mode])
  const [submission] = await loadOnboardingPeople(newest, sql)
  return missingWords(submission)
}

function missingWords(submission: OnboardingWithPeople | undefined): string[] {
  const { onboarding, representatives } = submission ?? {}
  if (!onboarding || !representatives) return ['the onboarding of the company: POST /onboarding']
  if (onboarding.status === 'approved') return []
  if (!isOnboardingOpen(onboarding))
    return [`another onboarding of the company, as the last one is ${onboarding.status}`]
  const missing = missingOnboardingItems(onboarding, representatives)
  return missing.length > 0 ? missing : ['the operator’s decision about the onboarding of the company']
}
