import { minuteInWords } from '../../values/clock.ts'
import { formatEuros } from '../../values/money.ts'
import type { CollectSignal } from './process.ts'
import type { PaymentRequest } from './request.ts'

/** How the request stands as its process needs it: who pays, and for what, is not told to Temporal. */
export interface Standing {
  readonly request: PaymentRequest
  readonly isUnderWay: boolean
  /** When the next refund that waits is to be looked at; null where none waits. */
  readonly refundDueAt: Date | null
}

function stateInWords({ request, isUnderWay, refundDueAt }: Standing): string {
  const { status, paidEuros, expiresAt, refundingEuros } = request
  if (refundDueAt !== null || refundingEuros > 0n)
    return `${status}, ${formatEuros(refundingEuros)} on their way back`
  if (status !== 'open') return status
  if (isUnderWay) return 'open, a payment is under way'
  const part = paidEuros > 0n ? `, ${formatEuros(paidEuros)} have come` : ''
  return `open until ${minuteInWords(expiresAt)}${part}`
}

/** Completes "it waits" for the operator. */
function waitsFor({ request, isUnderWay, refundDueAt }: Standing): string {
  const { status, expiresAt } = request
  if (status !== 'open')
    return refundDueAt
      ? `for the money to be back, which is asked at ${minuteInWords(refundDueAt)}`
      : 'for the money to be back'
  return isUnderWay
    ? 'for the outcome of the payment that is under way'
    : `for the money to come, until ${minuteInWords(expiresAt)}`
}

/** The earlier of the instants, as milliseconds from now; null where nothing is due by itself. */
function dueInMs({ request, refundDueAt }: Standing, now: Date): number | null {
  const due = [request.dueAt, refundDueAt].flatMap(at => (at ? [at.getTime() - now.getTime()] : []))
  return due.length > 0 ? Math.min(...due) : null
}

/** The status of a request as its process reads it. */
export function processStatusOf(standing: Standing, now: Date) {
  const { request, isUnderWay } = standing
  const { status, mode, amountEuros, refundingEuros } = request
  const closed = status !== 'open' && refundingEuros === 0n
  const signals: CollectSignal[] = status === 'open' && !isUnderWay ? ['cancel'] : []
  return {
    status,
    summary: `Request for ${formatEuros(amountEuros)} in ${mode} mode: ${stateInWords(standing)}`,
    closed,
    dueInMs: closed ? null : dueInMs(standing, now),
    waitsFor: closed ? null : waitsFor(standing),
    signals,
  }
}
