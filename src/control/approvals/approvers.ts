import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { ApprovalStep } from '../rules/index.ts'
import { type Approver, isAskedBy } from './progress.ts'

const APPROVERS = `
select id, role from people where (owner_id, mode) = ($1, $2) and status = 'active' and role in ('owner', 'approver') order by id`

/** The people who may approve now. */
export const readApprovers = (sql: Sql, { ownerId, mode }: Tenant): Promise<readonly Approver[]> =>
  sql<Approver & Row>(APPROVERS, [ownerId, mode])

const people = (count: number): string => `${count} ${count === 1 ? 'person' : 'people'}`

/** Which step asks for more people than there are, in a sentence; undefined if none does. */
export function tooFewApprovers(
  steps: readonly ApprovalStep[],
  approvers: readonly Approver[],
): string | undefined {
  for (const [place, step] of steps.entries()) {
    const able = approvers.filter(approver => isAskedBy(step, approver)).length
    if (able < step.need)
      return `approval.${place}.need: ${people(step.need)} must approve, and ${able} of those who are named can: they are active, and approvers or owners. Ask for fewer, name more, or invite them first.`
  }
  return undefined
}
