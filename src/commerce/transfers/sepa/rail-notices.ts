import type { Mode } from '../../../kernel/contract/actor.ts'
import type { ContextOf } from '../../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import type { Transfer } from '../transfer.ts'
import { hear, type Notice } from './apply-notice.ts'
import { takeUp } from './sepa-transfer.ts'
import type { stepsApi } from './steps-api.ts'

/** A payment as the banks know it, and whose it is. */
export type Paid = Row & Pick<Transfer, 'id' | 'ownerId' | 'amountEuros'> & { readonly endToEndId: string }

const UNDER = `
select id, owner_id as "ownerId", end_to_end_id as "endToEndId", amount_cents as "amountEuros"
from transfers where end_to_end_id = any($2) and mode = $1 and submitted_at is not null`

/** The payments of all owners that are known to the banks under these names. */
export const paymentsUnder = (sql: Sql, mode: Mode, endToEndIds: readonly string[]): Promise<Paid[]> =>
  sql<Paid>(UNDER, [mode, endToEndIds])

/** Applies what the rail has told of one; nothing where the rail does not have it. */
export async function takeNotice(
  id: string,
  notice: Notice,
  reasonCode: string | null,
  context: Omit<ContextOf<typeof stepsApi.noticed>, 'refuse'>,
): Promise<boolean> {
  const course = await takeUp(id, context)
  if (!course?.isAtTheRail()) return false
  const acted = await hear(course, notice, reasonCode, context.now)
  await course.post()
  return acted
}
