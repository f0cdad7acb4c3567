import type { Context } from '../../kernel/contract/context.ts'
import { lockHolder, moveKyc, type verifiedEvents, verifyHolder } from '../customers/index.ts'
import { noteIdentity } from '../onboarding/index.ts'
import { kycProcess } from './process.ts'
import type { KycSubmission } from './submission.ts'

type Following = Pick<Context, 'actor' | 'sql' | 'actFor' | 'records' | 'now' | 'wake'>
type Ending = Following & Pick<Context<never, typeof verifiedEvents>, 'emit'>

/** Whose identity it is, by id. */
export const subjectOf = ({ representativeId, ownerId }: KycSubmission): string => representativeId ?? ownerId

/** Starts the process of the submission, or tells it to look again. */
export const wakeProcess = (submission: KycSubmission, { wake }: Pick<Context, 'wake'>): void =>
  wake(kycProcess, { id: submission.id, agentId: null, about: subjectOf(submission) })

/**
 * Lets whom the submission is about follow it: the representative of a company, or the account holder. The submission is
 * locked first.
 */
export async function followSubmission(submission: KycSubmission, context: Following): Promise<void> {
  const { representativeId, status, ownerId } = submission
  if (representativeId) await noteIdentity(context, { representativeId, status })
  else if (status !== 'verified') moveKyc(await lockHolder(context.records, ownerId), status)
}

/** The same for a submission that has ended: a holder who is verified gives the account their name. */
export async function followEnd(submission: KycSubmission, context: Ending): Promise<void> {
  await followSubmission(submission, context)
  const { representativeId, status, ownerId } = submission
  if (representativeId === null && status === 'verified')
    verifyHolder(await lockHolder(context.records, ownerId), submission, context)
}
