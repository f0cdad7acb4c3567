import type { FilterQuery } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { inRange } from '../../kernel/contract/conditions.ts'
import type { Context, ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE, withMembers } from '../../kernel/database/entity.ts'
import { statementsOf } from '../../kernel/database/entity-statements.ts'
import type { PostalAddress } from '../../ports/card-processor.ts'
import { clock } from '../../values/clock.ts'
import { Onboarding } from './company-onboarding.ts'
import { BeneficialOwner, missingOnboardingItems, Representative } from './company-people.ts'

export interface OnboardingWithPeople {
  readonly onboarding: Onboarding
  representatives: Representative[]
  beneficialOwners: BeneficialOwner[]
}

const TENANT_OF = `
select o.owner_id as "ownerId", o.mode, coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from onboardings o left join tenant_clocks t on t.owner_id = o.owner_id and t.mode = o.mode
where o.id = $1`

/** Switches an operator to the owner of the onboarding. False if there is none with this id. */
export async function actForOnboardingOwner(
  id: string,
  { actor, sql, switchTenant }: Context,
): Promise<boolean> {
  if (actor.tenant) return true
  const [found] = await sql<Tenant & Row & { offsetMs: number }>(TENANT_OF, [id])
  if (!found) return false
  switchTenant({ ownerId: found.ownerId, mode: found.mode }, clock.tenant(found.offsetMs))
  return true
}

export async function lockOnboarding(id: string, context: Context): Promise<OnboardingWithPeople | null> {
  return (await actForOnboardingOwner(id, context)) ? lockOwnOnboarding(id, context) : null
}

export async function lockOwnOnboarding(
  id: string,
  { em }: WriteContext,
): Promise<OnboardingWithPeople | null> {
  const inOrder = { orderBy: { ordinal: 'asc' }, ...FOR_UPDATE } as const
  const [onboarding, representatives, beneficialOwners] = await Promise.all([
    em.findOne(Onboarding, { id }, FOR_UPDATE),
    em.find(Representative, { onboardingId: id, removedAt: null }, inOrder),
    em.find(BeneficialOwner, { onboardingId: id }, inOrder),
  ])
  return onboarding && { onboarding, representatives, beneficialOwners }
}

const named = (condition: string): string =>
  `where owner_id = any($1::text[]) and mode = any($2::text[]) and onboarding_id = any($3::text[])${condition} order by ordinal`

export async function loadOnboardingPeople(
  onboardings: readonly Onboarding[],
  sql: Sql,
): Promise<OnboardingWithPeople[]> {
  if (onboardings.length === 0) return []
  const values = [
    [...new Set(onboardings.map(({ ownerId }) => ownerId))],
    [...new Set(onboardings.map(({ mode }) => mode))],
    onboardings.map(({ id }) => id),
  ]
  const [representatives, owners] = await Promise.all([
    sql<Representative & Row>(
      statementsOf(Representative).selecting(named(' and removed_at is null')),
      values,
    ),
    sql<BeneficialOwner & Row>(statementsOf(BeneficialOwner).selecting(named('')), values),
  ])
  return onboardings.map(onboarding => ({
    onboarding,
    representatives: representatives.filter(({ onboardingId }) => onboardingId === onboarding.id),
    beneficialOwners: owners.filter(({ onboardingId }) => onboardingId === onboarding.id),
  }))
}

export const onboardingPageOfAllOwners = (condition: FilterQuery<Onboarding>, { sql, pageBy }: ReadContext) =>
  pageBy(async (after, most) => {
    const table = statementsOf(Onboarding)
    const values: unknown[] = []
    const rest = after === undefined ? {} : { id: inRange({ lt: after }) }
    const wanted = table.condition({ ...condition, ...rest }, values)
    const clause = `where true and ${wanted} order by id desc limit $${values.push(most)}`
    return sql<Onboarding & Row>(table.selecting(clause), values)
  })

export const onboardingResponse = ({ onboarding, representatives, beneficialOwners }: OnboardingWithPeople) =>
  withMembers(onboarding, {
    missing: missingOnboardingItems(onboarding, representatives),
    representatives,
    beneficialOwners,
    informationRequests: [...onboarding.informationRequests],
  })

export const onboardingEvent = ({
  onboarding: { id, ownerId, status },
  representatives,
}: OnboardingWithPeople) => ({
  onboardingId: id,
  customerId: ownerId,
  status,
  representativeIds: representatives.map(({ id }) => id),
})

export async function findOnboardedCompany(
  onboardingId: string,
  { em }: ReadContext,
): Promise<{ readonly name: string; readonly address: PostalAddress }> {
  const { legalName, address } = await em.findOneOrFail(Onboarding, { id: onboardingId })
  return { name: legalName, address }
}
