import type Stripe from 'stripe'
import type { ProcessorFailure } from '../../ports/card-processor.ts'
import { clock } from '../../values/clock.ts'
import { API_VERSION, type Patience, type StripeAccount } from './account.ts'
import { failureOf, LATE } from './answers.ts'

/** Runs requests to Stripe. Whatever goes wrong is an answer, and one comes within seconds. */
export type Connection = <T extends object>(
  requests: (stripe: Stripe) => Promise<T | ProcessorFailure>,
) => Promise<T | ProcessorFailure>

export function connectTo(account: StripeAccount, patience: Patience): Connection {
  let client: Promise<Stripe> | undefined
  return requests => {
    client ??= clientOf(account, patience)
    return within(patience.callMs, client.then(requests).catch(failureOf))
  }
}

/** A request that is given up goes on until its own end; repeated under the same key it has the same effect. */
async function within<T>(milliseconds: number, answer: Promise<T>): Promise<T | ProcessorFailure> {
  let cancel = () => {}
  const alarm = new Promise<ProcessorFailure>(resolve => {
    cancel = clock.alarm(milliseconds, () => resolve(LATE))
  })
  return Promise.race([answer, alarm]).finally(() => cancel())
}

/** The package takes a tenth of a second to load, and is loaded only where Stripe issues cards. */
async function clientOf({ secretKey, apiUrl }: StripeAccount, { requestMs }: Patience): Promise<Stripe> {
  const { default: Stripe } = await import('stripe')
  return new Stripe(secretKey, {
    ...addressOf(apiUrl),
    apiVersion: API_VERSION,
    timeout: requestMs,
    // The process that calls repeats what fails, under the same idempotency key.
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
