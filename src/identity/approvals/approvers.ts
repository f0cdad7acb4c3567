import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import type { RefusalSpec } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { ApprovalStep } from '../../values/approval-steps.ts'
import { addMs, days } from '../../values/clock.ts'
import { readRunningDeputies } from './deputy.ts'
import { type Approver, isAskedBy, mostApprovals } from './progress.ts'

const APPROVERS = `
select id, role from people where (owner_id, mode) = ($1, $2) and status = 'active' and role in ('owner', 'approver') order by id`

/** The people who may approve now. */
export const readApprovers = (sql: Sql, { ownerId, mode }: Tenant): Promise<readonly Approver[]> =>
  sql<Approver & Row>(APPROVERS, [ownerId, mode])

/** For how long the steps of people who have left still hold what these people held. */
const LEFT_HOLD_MS = days(3)

const WITH_LEFT = `
select id, case when updated_at > $3 then 'owner' else role end as role from people
where (owner_id, mode) = ($1, $2) and (updated_at > $3 or (status = 'active' and role in ('owner', 'approver'))) order by id`

/**
 * These people, and as owners all who have changed lately: they may have been removed, or have lost their role, by one owner alone,
 * whom their steps must not let go at once.
 */
export const readApproversWithLeft = (sql: Sql, { tenant, now }: TenantNow): Promise<readonly Approver[]> =>
  sql<Approver & Row>(WITH_LEFT, [tenant.ownerId, tenant.mode, addMs(now, -LEFT_HOLD_MS)])

/** The same, with the people whom each of them stands in for. */
export async function readApproversAndDeputies(
  sql: Sql,
  { tenant, now }: TenantNow,
): Promise<readonly Approver[]> {
  const [approvers, deputies] = await Promise.all([
    readApprovers(sql, tenant),
    readRunningDeputies(sql, tenant, now),
  ])
  const byDeputy = Map.groupBy(deputies, ({ deputyId }) => deputyId)
  return approvers.map(approver => ({
    ...approver,
    standsInFor: byDeputy.get(approver.id)?.map(({ personId }) => personId) ?? [],
  }))
}

export const peopleInWords = (count: number): string => `${count} ${count === 1 ? 'person' : 'people'}`

const REMEDY = 'Ask for fewer, name more, or invite them first.'

/** How steps are refused whose people there are not, or too few of. */
export const stepRefusals = {
  too_few_approvers: [400, 'approval: the policy asks for more people than can approve.'],
  unknown_approver: [400, 'approval: it names who is no person of this account. Leave the id out.'],
} as const satisfies Record<string, RefusalSpec>

export type StepRefusal = readonly [code: keyof typeof stepRefusals, message: string]

const PRESENT = `
select id from people where (owner_id, mode) = ($1, $2) and id = any($3::text[]) and status <> 'removed'`

const namedIn = (steps: readonly ApprovalStep[]): string[] =>
  steps.flatMap(({ of }) => (typeof of === 'string' ? [] : of))

async function readPresent(
  steps: readonly ApprovalStep[],
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<ReadonlySet<string>> {
  const ids = namedIn(steps)
  const rows = ids.length > 0 ? await sql<{ id: string } & Row>(PRESENT, [ownerId, mode, ids]) : []
  return new Set(rows.map(({ id }) => id))
}

/** The first id in the steps that is of no person of the account, in a sentence; undefined if there is none. */
export async function unknownApprover(
  steps: readonly ApprovalStep[],
  context: SqlContext,
): Promise<string | undefined> {
  const present = await readPresent(steps, context)
  for (const [step, { of }] of steps.entries())
    for (const [place, id] of (typeof of === 'string' ? [] : of).entries())
      if (!present.has(id))
        return `approval.${step}.of.${place}: ${id} is no person of this account, or has been removed. Leave the id out: GET /people lists everyone.`
  return undefined
}

/** Finds for steps those that ask the same people without who has been removed: they cannot approve anyway. */
export async function withoutRemoved(
  policies: readonly (readonly ApprovalStep[])[],
  context: SqlContext,
): Promise<(steps: readonly ApprovalStep[]) => ApprovalStep[]> {
  const present = await readPresent(policies.flat(), context)
  return steps =>
    steps.map(step => {
      const left = typeof step.of === 'string' ? [] : step.of.filter(id => present.has(id))
      return left.length > 0 ? { ...step, of: left } : step
    })
}

/** Why these steps cannot be asked of the people of the account; undefined if they can. */
export async function stepsProblem(
  steps: readonly ApprovalStep[],
  context: SqlContext,
): Promise<StepRefusal | undefined> {
  const unknown = await unknownApprover(steps, context)
  if (unknown) return ['unknown_approver', unknown]
  const few = await tooFewApprovers(steps, context)
  return few === undefined ? undefined : ['too_few_approvers', few]
}

/** Which step, or all together, ask for more people than there are, in a sentence; undefined if none does. */
async function tooFewApprovers(
  steps: readonly ApprovalStep[],
  { sql, tenant }: SqlContext,
): Promise<string | undefined> {
  if (steps.length === 0) return undefined
  const approvers = await readApprovers(sql, tenant)
  for (const [place, step] of steps.entries()) {
    const able = approvers.filter(approver => isAskedBy(step, approver)).length
    if (able < step.need)
      return `approval.${place}.need: ${peopleInWords(step.need)} must approve, and ${able} of those who are named can: they are active, and approvers or owners. ${REMEDY}`
  }
  const needed = steps.reduce((sum, { need }) => sum + need, 0)
  const most = mostApprovals(steps, approvers)
  return most < needed
    ? `approval: all steps together need ${peopleInWords(needed)}, as each counts in one of them, and there are ${most}. ${REMEDY}`
    : undefined
}
