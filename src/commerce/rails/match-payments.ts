import type { BankMessage } from '../../iso20022/bank-message.ts'
import { isKnownStatus, type StatusReport } from '../../iso20022/pain002.ts'
import type { PaymentNotice, ReportedStatus } from '../../iso20022/payment-notice.ts'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type SubmittedPayment, submittedPayments } from '../transfers/index.ts'
import type { outcomes } from './api.ts'
import { orderedIn } from './queue.ts'

/** What a bank's message reports of a payment, with the transfer that is meant and whether the report counts. */
export interface MatchedPayment extends ReportedStatus {
  readonly endToEndId: string | null
  readonly transferId: string | null
  readonly outcome: (typeof outcomes)[number]
  /** The owner of the transfer; null if none is meant. */
  readonly tenant: Tenant | null
}

/** Finds the transfers of ours that the notices of a message are about. */
export async function matchPayments(
  { notices, report }: BankMessage,
  mode: Mode,
  sql: Sql,
): Promise<MatchedPayment[]> {
  if (!report) return matchAll(notices, await submittedPayments(sql, mode, endToEndIdsOf(notices)), mode)
  const ordered = await orderedIn(sql, mode, report.originalMessageId)
  if (ordered.length > 0) {
    const submitted = await submittedPayments(sql, mode, ordered)
    return [...matchAll(withOthers(report, ordered), submitted, mode), ...report.unknown.map(ofTheFile)]
  }
  const unknown = notices.length > 0 ? notices : [wholeFile(report)]
  return matchAll(unknown, [], mode).map(payment => ({ ...payment, outcome: 'unknown_file' }))
}

const endToEndIdsOf = (notices: readonly PaymentNotice[]): string[] =>
  notices.flatMap(({ endToEndId }) => endToEndId ?? [])

function matchAll(
  notices: readonly PaymentNotice[],
  submitted: readonly SubmittedPayment[],
  mode: Mode,
): MatchedPayment[] {
  const byEndToEndId = new Map(submitted.map(payment => [payment.endToEndId, payment]))
  return notices.map(paymentNotice => {
    const { amountEuros: _, ...reported } = paymentNotice
    const { endToEndId } = reported
    const transfer = byEndToEndId.get(endToEndId ?? '')
    return {
      ...reported,
      transferId: transfer?.id ?? null,
      outcome: outcomeOf(paymentNotice, transfer),
      tenant: transfer ? { ownerId: transfer.ownerId, mode } : null,
    }
  })
}

/** The notices of the payments that a report names, and the one for all others of the file if there is one. */
function withOthers(
  { notices, othersNotice }: StatusReport,
  ordered: readonly string[],
): readonly PaymentNotice[] {
  if (!othersNotice) return notices
  const named = new Set(endToEndIdsOf(notices))
  const others = ordered.filter(endToEndId => !named.has(endToEndId))
  return [...notices, ...others.map(endToEndId => ({ ...othersNotice, endToEndId, amountEuros: null }))]
}

/** Shows a person that the message means a whole file, and that the file is none of ours. */
const wholeFile = ({ othersNotice, unknown: [unknown] }: StatusReport): PaymentNotice => ({
  ...(othersNotice ?? unknown ?? { status: null, notice: null, reasonCode: null, payeeCheck: null }),
  endToEndId: null,
  amountEuros: null,
})

/** Shows a person a status that the bank gives the whole of a file of ours, and that is not known. */
const ofTheFile = (reported: ReportedStatus): MatchedPayment => ({
  ...reported,
  endToEndId: null,
  transferId: null,
  outcome: 'unknown_status',
  tenant: null,
})

function outcomeOf(
  { status, notice, amountEuros }: PaymentNotice,
  transfer: SubmittedPayment | undefined,
): MatchedPayment['outcome'] {
  if (!transfer) return 'unknown_payment'
  if (status !== null && !isKnownStatus(status)) return 'unknown_status'
  if (notice === null) return 'on_its_way'
  const isSameAmount = amountEuros === null || amountEuros === transfer.amountEuros
  return isSameAmount ? 'taken' : 'amount_differs'
}
