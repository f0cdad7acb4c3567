import { type SepaDebtor, writePain001 } from '../../iso20022/pain001.ts'
import type {
  PayeeCheck,
  SepaPayment,
  SepaPaymentStatus,
  SepaRail,
  SepaRecallStatus,
  UnansweredRailCall,
} from '../../ports/sepa-rail.ts'
import { bankDateOf } from '../../values/bank-calendar.ts'

/** By the amount in cents. Documented at `POST /transfers`. */
interface Outcome {
  readonly submitted: SepaPaymentStatus['status'] | UnansweredRailCall
  readonly later?: { readonly afterMs: number; readonly status: 'settled' | 'rejected' }
  readonly reasonCode?: string
}

const HOUR = 3_600_000

const rejected = (reasonCode: string): Outcome => ({ submitted: 'rejected', reasonCode })

const outcomes: ReadonlyMap<bigint, Outcome> = new Map([
  [666_01n, rejected('AC04')],
  [666_02n, rejected('AM04')],
  [666_03n, rejected('RC01')],
  [666_04n, rejected('MS03')],
  [666_05n, rejected('AG01')],
  [666_06n, rejected('AC06')],
  [666_07n, { submitted: 'pending', later: { afterMs: HOUR, status: 'rejected' }, reasonCode: 'AB09' }],
  [777_01n, { submitted: 'pending', later: { afterMs: HOUR, status: 'settled' } }],
  [777_02n, { submitted: 'late' }],
  [777_03n, { submitted: 'late', later: { afterMs: 60_000, status: 'settled' } }],
  [777_04n, { submitted: 'late', later: { afterMs: 60_000, status: 'rejected' }, reasonCode: 'AB05' }],
  [777_05n, { submitted: 'unusable', later: { afterMs: 0, status: 'settled' } }],
  [777_06n, { submitted: 'pending' }],
])

const settles: Outcome = { submitted: 'settled' }

const statusWith = (
  status: SepaPaymentStatus['status'],
  reasonCode: string | undefined,
): SepaPaymentStatus => ({
  status,
  reasonCode: status === 'rejected' ? (reasonCode ?? null) : null,
})

const outcomeOf = ({ amountCents }: SepaPayment): Outcome => outcomes.get(amountCents) ?? settles

function submit(payment: SepaPayment): SepaPaymentStatus | UnansweredRailCall {
  const { submitted, reasonCode } = outcomeOf(payment)
  return isSilent(submitted) ? submitted : statusWith(submitted, reasonCode)
}

function statusOf(payment: SepaPayment): SepaPaymentStatus | UnansweredRailCall {
  const { later, reasonCode } = outcomeOf(payment)
  const waited = payment.at.getTime() - payment.submittedAt.getTime()
  return later && waited >= later.afterMs ? statusWith(later.status, reasonCode) : submit(payment)
}

const isSilent = (answer: Outcome['submitted']): answer is UnansweredRailCall =>
  answer === 'late' || answer === 'unusable'

const recalls = new Map<bigint, SepaRecallStatus | UnansweredRailCall>([
  [888_01n, { status: 'refused', reasonCode: 'CUST' }],
  [888_02n, { status: 'refused', reasonCode: 'AC04' }],
  [888_03n, { status: 'pending', reasonCode: null }],
  [888_04n, 'late'],
])

const recall = ({ amountCents }: SepaPayment): SepaRecallStatus | UnansweredRailCall =>
  recalls.get(amountCents) ?? { status: 'accepted', reasonCode: 'FOCR' }

/** The beginning of a name decides its bank's answer; the first match counts. Documented at the operation. */
const magic: readonly (readonly [RegExp, (rest: string) => PayeeCheck | UnansweredRailCall])[] = [
  [/^close (?=\S)/i, rest => ({ result: 'close_match', suggestedName: rest })],
  [/^no ?match\b/i, () => ({ result: 'no_match', suggestedName: null })],
  [/^unknown\b/i, () => ({ result: 'not_possible', suggestedName: null })],
  [/^timeout\b/i, () => 'late'],
  [/^garbled\b/i, () => 'unusable'],
]

const FALLBACK_IBAN = 'DE69999900010000000000'

const payerOf = (iban: string): SepaDebtor => ({ name: 'Sandbox', iban, bic: null })

/** A simulated rail. Its banks confirm every name that no rule above covers. */
export const sandboxSepaRail = (): SepaRail => ({
  async verifyPayee({ name }) {
    for (const [beginning, answer] of magic)
      if (beginning.test(name)) return answer(name.replace(beginning, ''))
    return { result: 'match', suggestedName: null }
  },
  submit: async payment => submit(payment),
  statusOf: async payment => statusOf(payment),
  recall: async payment => recall(payment),
  nextFile: (_, at) => ({ closesAt: at, executeOn: bankDateOf(at) }),
  message: order => writePain001(order, payerOf(order.payments[0]?.payerIban ?? FALLBACK_IBAN)),
  reportDueAt: () => null,
  files: null,
})
