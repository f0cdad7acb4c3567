import type { BankMessage } from '../../iso20022/bank-message.ts'
import type { StatusReport } from '../../iso20022/pain002.ts'
import type { OwnNotice, ReportedPayment } from '../../iso20022/payment-notice.ts'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type SubmittedPayment, submittedPayments } from '../transfers/index.ts'
import type { outcomes } from './api.ts'
import { orderedIn } from './queue.ts'

/** What a bank's message reports of a payment, with the transfer that is meant and whether the report counts. */
export interface MatchedPayment {
  readonly endToEndId: string | null
  readonly transferId: string | null
  readonly notice: OwnNotice | null
  readonly reasonCode: string | null
  readonly outcome: (typeof outcomes)[number]
  /** The owner of the transfer; null if none is meant. */
  readonly tenant: Tenant | null
}

/** Finds our transfers for all that a message reports of payments. */
export async function matchPayments(
  { payments, report }: BankMessage,
  mode: Mode,
  sql: Sql,
): Promise<MatchedPayment[]> {
  if (!report) return matchAll(payments, await submittedPayments(sql, mode, endToEndIdsOf(payments)), mode)
  const ordered = await orderedIn(sql, mode, report.originalMessageId)
  if (ordered.length > 0)
    return matchAll(withOthers(report, ordered), await submittedPayments(sql, mode, ordered), mode)
  const unknown = payments.length > 0 ? payments : [wholeFile(report)]
  return matchAll(unknown, [], mode).map(payment => ({ ...payment, outcome: 'unknown_file' }))
}

const endToEndIdsOf = (payments: readonly ReportedPayment[]): string[] =>
  payments.flatMap(({ endToEndId }) => endToEndId ?? [])

function matchAll(
  reported: readonly ReportedPayment[],
  submitted: readonly SubmittedPayment[],
  mode: Mode,
): MatchedPayment[] {
  const byEndToEndId = new Map(submitted.map(payment => [payment.endToEndId, payment]))
  return reported.map(payment => {
    const { endToEndId, notice, reasonCode } = payment
    const transfer = byEndToEndId.get(endToEndId ?? '')
    return {
      endToEndId,
      transferId: transfer?.id ?? null,
      notice,
      reasonCode,
      outcome: outcomeOf(payment, transfer),
      tenant: transfer ? { ownerId: transfer.ownerId, mode } : null,
    }
  })
}

/** The payments that a report names, and all others of the file if it says something of the others, too. */
function withOthers(
  { payments, otherPayments }: StatusReport,
  ordered: readonly string[],
): readonly ReportedPayment[] {
  if (!otherPayments) return payments
  const named = new Set(endToEndIdsOf(payments))
  const others = ordered.filter(endToEndId => !named.has(endToEndId))
  return [...payments, ...others.map(endToEndId => ({ ...otherPayments, endToEndId, amountEuros: null }))]
}

/** Shows a person that the message means a whole file, and that the file is none of ours. */
const wholeFile = ({ otherPayments }: StatusReport): ReportedPayment => ({
  notice: null,
  reasonCode: null,
  ...otherPayments,
  endToEndId: null,
  amountEuros: null,
})

function outcomeOf(
  { notice, amountEuros }: ReportedPayment,
  transfer: SubmittedPayment | undefined,
): MatchedPayment['outcome'] {
  if (!transfer) return 'unknown_payment'
  if (notice === null) return 'on_its_way'
  const isSameAmount = amountEuros === null || amountEuros === transfer.amountEuros
  return isSameAmount ? 'taken' : 'amount_differs'
}
