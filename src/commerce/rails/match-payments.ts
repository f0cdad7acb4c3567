import type { BankMessage } from '../../iso20022/bank-message.ts'
import type { StatusReport } from '../../iso20022/pain002.ts'
import type { NoticeKind, PaymentNotice } from '../../iso20022/payment-notice.ts'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type Paid, paymentsUnder } from '../transfers/index.ts'
import type { outcomes } from './api.ts'
import { orderedUnder } from './queue.ts'

export interface Judged {
  readonly endToEndId: string | null
  readonly transferId: string | null
  readonly notice: NoticeKind | null
  readonly reasonCode: string | null
  readonly outcome: (typeof outcomes)[number]
  readonly tenant: Tenant | null
}

/** Of each thing that a message says of payments of ours: which one is meant, and whether it may count. */
export async function judge({ notices: said, report }: BankMessage, mode: Mode, sql: Sql): Promise<Judged[]> {
  if (!report) return judgeAll(said, await paymentsUnder(sql, mode, namesOf(said)), mode)
  const ordered = await orderedUnder(sql, mode, report.originalMessageId)
  if (ordered.length === 0)
    return judgeAll([...said, ...unnamed(report)], [], mode).map(one => ({ ...one, outcome: 'unknown_file' }))
  return judgeAll(completed(report, ordered), await paymentsUnder(sql, mode, ordered), mode)
}

const namesOf = (said: readonly PaymentNotice[]): string[] =>
  said.flatMap(({ endToEndId }) => endToEndId ?? [])

function judgeAll(said: readonly PaymentNotice[], payments: readonly Paid[], mode: Mode): Judged[] {
  const known = new Map(payments.map(paid => [paid.endToEndId, paid]))
  return said.map(one => {
    const { endToEndId, notice, reasonCode } = one
    const paid = known.get(endToEndId ?? '')
    const tenant = paid ? { ownerId: paid.ownerId, mode } : null
    return {
      endToEndId,
      transferId: paid?.id ?? null,
      notice,
      reasonCode,
      outcome: outcomeOf(one, paid),
      tenant,
    }
  })
}

/** What a report says of all others in the file is said of each of them. */
function completed(
  { notices: said, othersNotice: ofTheOthers }: StatusReport,
  ordered: readonly string[],
): readonly PaymentNotice[] {
  if (!ofTheOthers) return said
  const named = new Set(namesOf(said))
  const others = ordered.filter(name => !named.has(name))
  return [...said, ...others.map(endToEndId => ({ ...ofTheOthers, endToEndId, amountEuros: null }))]
}

/** So that a person sees that a whole file was meant that is none of ours. */
const unnamed = ({ notices: said, othersNotice: ofTheOthers }: StatusReport): PaymentNotice[] =>
  said.length === 0
    ? [{ notice: null, reasonCode: null, ...ofTheOthers, endToEndId: null, amountEuros: null }]
    : []

function outcomeOf({ notice, amountEuros }: PaymentNotice, paid: Paid | undefined): Judged['outcome'] {
  if (!paid) return 'unknown_payment'
  if (notice === null) return 'on_its_way'
  const mayCount = amountEuros === null || amountEuros === paid.amountEuros
  return mayCount ? 'taken' : 'amount_differs'
}
