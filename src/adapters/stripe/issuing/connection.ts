import type Stripe from 'stripe'
import type { ProcessorFailure } from '../../../ports/card-processor.ts'
import { clock } from '../../../values/clock.ts'
import { redactExcerpt } from '../../../values/redaction.ts'

export interface StripeAccount {
  readonly secretKey: string
  /** The signing secrets of the endpoints that Stripe calls: of real-time authorizations, and of all other events. */
  readonly webhookSecrets: readonly string[]
  readonly apiUrl?: string | undefined
}

/** The API version of requests, answers and events: the one that the package knows. */
export const STRIPE_API_VERSION = '2026-10-28.endive' satisfies NonNullable<Stripe.StripeConfig['apiVersion']>

interface CallTimeouts {
  readonly requestMs: number
  readonly callMs: number
}

export const STRIPE_TIMEOUTS: CallTimeouts = { requestMs: 4_000, callMs: 6_000 }

/** A list of everything that has come back has pages. */
export const STRIPE_LIST_TIMEOUTS: CallTimeouts = { ...STRIPE_TIMEOUTS, callMs: 60_000 }

/** Errors of the package; its classes are not loaded for this. */
interface StripeError {
  readonly type?: unknown
  readonly rawType?: unknown
  readonly code?: unknown
  readonly statusCode?: unknown
  readonly message?: unknown
}

const LATE: ProcessorFailure = { failure: 'late' }
export const UNUSABLE_ANSWER: ProcessorFailure = { failure: 'unusable' }

/** Another request with the same key is running, or there are too many: the same call succeeds later. */
const BUSY = new Set<unknown>([408, 409, 429])

/** The key or its rights are wrong: an operator must correct that, and the card must not be closed over it. */
const ACCESS_ERRORS = new Set<unknown>([401, 403])

/** Only an answer that refuses the request itself is final. */
export function failureFromStripeError(error: unknown): ProcessorFailure {
  const thrown = (error ?? {}) as StripeError
  const { type, statusCode } = thrown
  if (type === 'StripeConnectionError' || BUSY.has(statusCode)) return LATE
  const isRefusal = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  return isRefusal && !ACCESS_ERRORS.has(statusCode) ? refusalOf(thrown) : UNUSABLE_ANSWER
}

const refusalOf = ({ rawType, code, message }: StripeError): ProcessorFailure => ({
  failure: 'refused',
  code: String(code ?? rawType ?? 'refused').slice(0, 100),
  message: redactExcerpt(Buffer.from(String(message ?? ''))) ?? 'Stripe refused without a reason.',
})

export type StripeCaller = <T extends object>(
  requests: (stripe: Stripe) => Promise<T | ProcessorFailure>,
) => Promise<T | ProcessorFailure>

export function stripeCaller(account: StripeAccount, patience: CallTimeouts): StripeCaller {
  let client: Promise<Stripe> | undefined
  return requests => {
    client ??= clientOf(account, patience)
    return within(patience.callMs, client.then(requests).catch(failureFromStripeError))
  }
}

/** An abandoned request continues; a repetition with the same key has the same effect. */
async function within<T>(milliseconds: number, answer: Promise<T>): Promise<T | ProcessorFailure> {
  let cancel = () => {}
  const alarm = new Promise<ProcessorFailure>(resolve => {
    cancel = clock.alarm(milliseconds, () => resolve(LATE))
  })
  return Promise.race([answer, alarm]).finally(() => cancel())
}

/** The package takes a tenth of a second to load, so it is loaded only if Stripe issues cards. */
async function clientOf({ secretKey, apiUrl }: StripeAccount, { requestMs }: CallTimeouts): Promise<Stripe> {
  const { default: Stripe } = await import('stripe')
  return new Stripe(secretKey, {
    ...addressOf(apiUrl),
    apiVersion: STRIPE_API_VERSION,
    timeout: requestMs,
    // The calling process repeats failures, with the same idempotency key.
    maxNetworkRetries: 0,
    telemetry: false,
    // A redirect could lead the card's data elsewhere.
    httpClient: Stripe.createFetchHttpClient((address, init) =>
      fetch(address, { ...init, redirect: 'error' }),
    ),
  })
}

function addressOf(apiUrl: string | undefined): Pick<Stripe.StripeConfig, 'host' | 'port' | 'protocol'> {
  if (apiUrl === undefined) return {}
  const { hostname, port, protocol } = new URL(apiUrl)
  const standard = protocol === 'https:' ? '443' : '80'
  return { host: hostname, port: port || standard, protocol: protocol === 'https:' ? 'https' : 'http' }
}
