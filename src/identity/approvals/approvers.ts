import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { ApprovalStep } from '../../values/approval-steps.ts'
import { readRunningDeputies } from './deputy.ts'
import { type Approver, isAskedBy, mostApprovals } from './progress.ts'

const APPROVERS = `
select id, role from people where (owner_id, mode) = ($1, $2) and status = 'active' and role in ('owner', 'approver') order by id`

/** The people who may approve now. */
export const readApprovers = (sql: Sql, { ownerId, mode }: Tenant): Promise<readonly Approver[]> =>
  sql<Approver & Row>(APPROVERS, [ownerId, mode])

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

/** Which step, or all together, ask for more people than there are, in a sentence; undefined if none does. */
export async function tooFewApprovers(
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
