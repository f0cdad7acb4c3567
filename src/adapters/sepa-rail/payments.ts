import type { Payment, PaymentStatus, RecallStatus, Unanswered } from '../../ports/sepa-rail.ts'

/** The outcome of a sandbox payment, by its amount in cents. Documented at `POST /transfers`. */
interface Fate {
  /** The answer to the submission, and the status until `afterMs`. */
  readonly submitted: PaymentStatus['status'] | Unanswered
  /** The status once so many milliseconds have passed. */
  readonly later?: { readonly afterMs: number; readonly status: 'settled' | 'rejected' }
  readonly reasonCode?: string
}

const HOUR = 3_600_000

const rejected = (reasonCode: string): Fate => ({ submitted: 'rejected', reasonCode })

const fates: ReadonlyMap<bigint, Fate> = new Map([
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

const settles: Fate = { submitted: 'settled' }

const told = (status: PaymentStatus['status'], reasonCode: string | undefined): PaymentStatus => ({
  status,
  reasonCode: status === 'rejected' ? (reasonCode ?? null) : null,
})

const fateOf = ({ amountEuros }: Payment): Fate => fates.get(amountEuros) ?? settles

/** A repeated submission gets the same answer. */
export function submit(payment: Payment): PaymentStatus | Unanswered {
  const { submitted, reasonCode } = fateOf(payment)
  return isSilent(submitted) ? submitted : told(submitted, reasonCode)
}

/** The sandbox stores nothing: it takes every payment asked about as submitted. */
export function statusOf(payment: Payment): PaymentStatus | Unanswered {
  const { later, reasonCode } = fateOf(payment)
  const waited = payment.at.getTime() - payment.submittedAt.getTime()
  return later && waited >= later.afterMs ? told(later.status, reasonCode) : submit(payment)
}

const isSilent = (answer: Fate['submitted']): answer is Unanswered =>
  answer === 'late' || answer === 'unusable'

const recalls = new Map<bigint, RecallStatus | Unanswered>([
  [888_01n, { status: 'refused', reasonCode: 'CUST' }],
  [888_02n, { status: 'refused', reasonCode: 'AC04' }],
  [888_03n, { status: 'pending', reasonCode: null }],
  [888_04n, 'late'],
])

export const recall = ({ amountEuros }: Payment): RecallStatus | Unanswered =>
  recalls.get(amountEuros) ?? { status: 'accepted', reasonCode: 'FOCR' }
