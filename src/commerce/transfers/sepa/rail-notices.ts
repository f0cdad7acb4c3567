import type { ReportedPayeeCheck } from '../../../iso20022/payment-notice.ts'
import type { Mode } from '../../../kernel/contract/actor.ts'
import type { ContextOf } from '../../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import type { Transfer } from '../transfer.ts'
import { applyNotice, type Notice } from './apply-notice.ts'
import { lockTransfer } from './lock-transfer.ts'
import type { stepsApi } from './steps-api.ts'

/** A payment as the banks know it, and its owner. */
export type SubmittedPayment = Row &
  Pick<Transfer, 'id' | 'ownerId' | 'amountEuros'> & { readonly endToEndId: string }

const FIND_SUBMITTED = `
select id, owner_id as "ownerId", end_to_end_id as "endToEndId", amount_cents as "amountEuros"
from transfers where end_to_end_id = any($2) and mode = $1 and submitted_at is not null`

/** Finds submitted payments of any owner by their end-to-end ids. */
export const submittedPayments = (
  sql: Sql,
  mode: Mode,
  endToEndIds: readonly string[],
): Promise<SubmittedPayment[]> => sql<SubmittedPayment>(FIND_SUBMITTED, [mode, endToEndIds])

/** Notes what the bank reports of the payee of a payment that it has; true if that is news. */
export async function applyPayeeReport(
  id: string,
  check: ReportedPayeeCheck,
  context: Omit<ContextOf<typeof stepsApi.noticed>, 'refuse'>,
): Promise<boolean> {
  const sepaTransfer = await lockTransfer(id, context)
  return sepaTransfer?.isSubmitted() ? sepaTransfer.checkPayee(check) : false
}

/** Applies a notice to a transfer; true if it changed it. A transfer that was never submitted stays as it is. */
export async function applyRailNotice(
  id: string,
  notice: Notice,
  reasonCode: string | null,
  context: Omit<ContextOf<typeof stepsApi.noticed>, 'refuse'>,
): Promise<boolean> {
  const sepaTransfer = await lockTransfer(id, context)
  if (!sepaTransfer?.isSubmitted()) return false
  const acted = await applyNotice(sepaTransfer, notice, reasonCode, context.now)
  await sepaTransfer.post()
  return acted
}
