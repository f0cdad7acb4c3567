import type { Done, ProcessorFailure } from '../../ports/card-processor.ts'
import { redactedExcerpt } from '../../values/redaction.ts'

/** What the package throws; its classes are not loaded for this. */
interface Thrown {
  readonly type?: unknown
  /** Stripe's word where there is no code: `card_error`. */
  readonly rawType?: unknown
  readonly code?: unknown
  readonly statusCode?: unknown
  readonly message?: unknown
}

export const DONE: Done = { done: true }
export const LATE: ProcessorFailure = { failure: 'late' }
export const UNUSABLE: ProcessorFailure = { failure: 'unusable' }

/** Another request under the same key is still running, or there are too many: the same call succeeds later. */
const BUSY = new Set<unknown>([408, 409, 429])

/** The key or its rights are wrong: an operator mends that, and the card must not be lost over it. */
const OUR_ACCESS = new Set<unknown>([401, 403])

/** Only an answer that refuses the request itself is final. */
export function failureOf(error: unknown): ProcessorFailure {
  const thrown = (error ?? {}) as Thrown
  const { type, statusCode } = thrown
  if (type === 'StripeConnectionError' || BUSY.has(statusCode)) return LATE
  const isRefusal = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  return isRefusal && !OUR_ACCESS.has(statusCode) ? refusalOf(thrown) : UNUSABLE
}

const refusalOf = ({ rawType, code, message }: Thrown): ProcessorFailure => ({
  failure: 'refused',
  code: String(code ?? rawType ?? 'refused').slice(0, 100),
  message: redactedExcerpt(Buffer.from(String(message ?? ''))) ?? 'Stripe has refused without a reason.',
})
