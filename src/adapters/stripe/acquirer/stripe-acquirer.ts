import type Stripe from 'stripe'
import { z } from 'zod'
import type {
  Acquirer,
  AcquirerCharge,
  AcquirerChargeOrder,
  ChargeOutcome,
  ChargeReturns,
} from '../../../ports/acquirer.ts'
import { isProcessorFailure, type ProcessorFailure } from '../../../ports/card-processor.ts'
import { cents } from '../../../values/money.ts'
import {
  failureFromStripeError,
  STRIPE_LIST_TIMEOUTS,
  STRIPE_TIMEOUTS,
  type StripeAccount,
  stripeCaller,
  UNUSABLE_ANSWER,
} from '../issuing/connection.ts'
import { STRIPE_PREVIEW_VERSION } from '../issuing/shared-tokens.ts'
import { stripeAcquirerNotices } from './notices.ts'
import { listChargebacks, listRefunds, listReturnsSince, refundElsewhere, StripeRefund } from './returns.ts'

/** Stripe charges no less in euros. */
const LEAST_CENTS = cents(50n)

const options = (idempotencyKey?: string) => ({
  apiVersion: STRIPE_PREVIEW_VERSION,
  ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
})

const Intent = z.object({
  id: z.string().min(1),
  status: z.string(),
  last_payment_error: z
    .object({ code: z.string().nullish(), decline_code: z.string().nullish(), message: z.string().nullish() })
    .nullish(),
})
type Intent = z.output<typeof Intent>

/**
 * Charges shared payment tokens by payment intents. The handle is the token itself: only this account can charge
 * it, up to its limit. A payment intent carries the reference of its charge, by which it is found.
 */
export function stripeAcquirer(
  account: StripeAccount & { readonly networkId: string },
  patience = STRIPE_TIMEOUTS,
): Acquirer {
  const ask = stripeCaller(account, patience)
  const askForList = stripeCaller(account, STRIPE_LIST_TIMEOUTS)
  return {
    name: 'stripe',
    networks: [],
    sharedTokens: {
      networkId: account.networkId,
      paymentMethodTypes: ['card', 'link'],
      leastCents: LEAST_CENTS,
      accept: spt => ({ handle: spt, network: 'stripe', last4: null }),
    },
    accept: () => ({ refused: 'Stripe charges no network tokens.' }),
    charge: async order => outcomeOf(await ask(stripe => createIntent(stripe, order))),
    stateOf: async order => outcomeOf(await ask(stripe => stateOf(stripe, order))),
    refund: async order => refundOutcome(await ask(stripe => createRefund(stripe, order))),
    async returnsOf(order) {
      const returns = await ask<ChargeReturns>(stripe => returnsOf(stripe, order))
      if (!isProcessorFailure(returns)) return returns
      return { outcome: returns.failure === 'late' ? 'late' : 'unusable' }
    },
    async returnsSince(since) {
      const listed = await askForList(stripe => listReturnsSince(stripe, since))
      return isProcessorFailure(listed) ? null : listed
    },
    notices: stripeAcquirerNotices(account, ask),
  }
}

type Asked<T> = Promise<T | ProcessorFailure>

/** The same key and parameters give the same payment intent, so a repetition charges nothing. */
async function createIntent(stripe: Stripe, order: AcquirerCharge): Asked<Intent> {
  const { handle, amountCents, reference, descriptor, ownerId: owner, mode } = order
  const made = await stripe.rawRequest(
    'POST',
    '/v1/payment_intents',
    {
      amount: Number(amountCents),
      currency: 'eur',
      confirm: true,
      shared_payment_granted_token: handle,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      description: descriptor,
      metadata: { reference, owner, mode },
    },
    options(`charge/${reference}`),
  )
  const intent = Intent.safeParse(made).data
  if (intent?.status !== 'requires_action') return intent ?? UNUSABLE_ANSWER
  await stripe.paymentIntents.cancel(intent.id)
  return intent
}

/**
 * Stripe forgets keys after a day, and refuses a token that it has charged: so a refusal counts only if there is
 * no payment intent of this reference. Before that it repeats its first answer, so one that was under way is read.
 */
async function stateOf(stripe: Stripe, order: AcquirerCharge): Asked<Intent> {
  const answer = await createIntent(stripe, order).catch(failureFromStripeError)
  if (!isProcessorFailure(answer))
    return answer.status === 'processing' ? readIntent(stripe, answer.id) : answer
  if (answer.failure !== 'refused') return answer
  return (await findIntent(stripe, order)) ?? answer
}

async function readIntent(stripe: Stripe, id: string): Asked<Intent> {
  const path = `/v1/payment_intents/${encodeURIComponent(id)}`
  return Intent.safeParse(await stripe.rawRequest('GET', path, undefined, options())).data ?? UNUSABLE_ANSWER
}

const Found = z.object({ data: z.array(Intent) })

async function findIntent(stripe: Stripe, { reference }: AcquirerChargeOrder): Promise<Intent | undefined> {
  const query = `metadata['reference']:'${reference.replace(/['\\]/g, '\\$&')}'`
  // The package takes parameters of a raw GET only in its path.
  const path = `/v1/payment_intents/search?${new URLSearchParams({ query, limit: '10' })}`
  const found = Found.parse(await stripe.rawRequest('GET', path, undefined, options()))
  return found.data.find(({ status }) => status === 'succeeded') ?? found.data[0]
}

/** Stripe forgets a key after a day, so a refund that was made is found by its reference first. */
async function createRefund(stripe: Stripe, order: Parameters<Acquirer['refund']>[0]): Asked<StripeRefund> {
  const intent = await findIntent(stripe, order)
  if (!intent) return { failure: 'late' }
  const { refundReference } = order
  const made = await listRefunds(stripe, intent.id)
  const known = made.find(({ metadata }) => metadata.refund === refundReference)
  if (known) return known
  const answer = await stripe.rawRequest(
    'POST',
    '/v1/refunds',
    {
      payment_intent: intent.id,
      amount: Number(order.amountCents),
      metadata: { reference: order.reference, refund: refundReference },
    },
    options(`refund/${refundReference}`),
  )
  return StripeRefund.safeParse(answer).data ?? UNUSABLE_ANSWER
}

async function returnsOf(stripe: Stripe, order: AcquirerChargeOrder): Asked<ChargeReturns> {
  const intent = await findIntent(stripe, order)
  if (!intent) return { failure: 'late' }
  const [refunds, chargebacks] = await Promise.all([
    listRefunds(stripe, intent.id),
    listChargebacks(stripe, intent.id),
  ])
  return {
    refunds: refunds.flatMap(one => {
      const { refund: refundReference } = one.metadata
      return refundReference === undefined ? [] : { refundReference, outcome: refundOutcome(one) }
    }),
    chargebacks: [...chargebacks, ...refunds.flatMap(refundElsewhere)],
  }
}

const DECLINED = { code: 'card_declined', reason: 'Stripe declined the payment.' }

/** A payment intent that requires action cannot go on: the payer's program has no one to ask. */
function outcomeOf(answer: Intent | ProcessorFailure): ChargeOutcome {
  if (isProcessorFailure(answer)) return failureOutcome(answer)
  const { status, last_payment_error: error } = answer
  if (status === 'succeeded') return { outcome: 'approved' }
  if (status === 'processing') return { outcome: 'late' }
  if (status === 'requires_action')
    return { outcome: 'declined', code: status, reason: 'The card’s issuer wants to ask its holder.' }
  const code = error?.decline_code ?? error?.code ?? DECLINED.code
  return { outcome: 'declined', code, reason: error?.message ?? DECLINED.reason }
}

/** Until the bank of the card has taken a refund, it may still fail. */
function refundOutcome(answer: StripeRefund | ProcessorFailure): ChargeOutcome {
  if (isProcessorFailure(answer)) return failureOutcome(answer)
  const { status, failure_reason: reason } = answer
  if (status === 'succeeded') return { outcome: 'approved' }
  if (status !== 'failed' && status !== 'canceled') return { outcome: 'late' }
  const why = reason ? ` (${reason})` : ''
  return { outcome: 'declined', code: status, reason: `Stripe could not refund the payment${why}.` }
}

/** Other parameters under the same key, as after an update of this service: what the key has made is not known. */
function failureOutcome(answer: ProcessorFailure): ChargeOutcome {
  if (answer.failure !== 'refused') return { outcome: answer.failure }
  if (answer.code === 'idempotency_error') return { outcome: 'unusable' }
  return { outcome: 'declined', code: answer.code, reason: answer.message }
}
