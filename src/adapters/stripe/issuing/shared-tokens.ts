import type Stripe from 'stripe'
import { z } from 'zod'
import {
  CALL_DONE,
  isProcessorFailure,
  type ProcessorCall,
  type ProcessorCallDone,
  type ProcessorFailure,
  type SharedToken,
  type SharedTokenOrder,
  type SharedTokenState,
} from '../../../ports/card-processor.ts'
import { failureFromStripeError, type StripeCaller, UNUSABLE_ANSWER } from './connection.ts'

/** Shared payment tokens, and payment methods from Issuing cards, are previews: only this version knows them. */
export const STRIPE_PREVIEW_VERSION = '2026-07-29.preview'

export const stripeSharedTokens = (ask: StripeCaller) => ({
  create: (order: SharedTokenOrder, call: ProcessorCall) => ask(stripe => createToken(stripe, order, call)),
  stateOf: (tokenId: string) => ask(stripe => readState(stripe, tokenId)),
  revoke: (tokenId: string) => ask(stripe => revokeToken(stripe, tokenId)),
})

const PaymentMethod = z.object({
  id: z.string().min(1),
  card: z.object({ last4: z.string().regex(/^\d{4}$/) }),
})

/** `use_stripe_sdk` would need a script of Stripe’s in a page; it is not asked for. */
const State = z.object({
  status: z.enum(['active', 'requires_action', 'deactivated']),
  next_action: z
    .object({ redirect_to_url: z.object({ url: z.url({ protocol: /^https?$/ }).max(2_000) }).nullish() })
    .nullish()
    .catch(null),
})

const Token = State.extend({ id: z.string().regex(/^spt_[\w-]{1,200}$/) })

function stateFrom({ status, next_action: next }: z.output<typeof State>): SharedTokenState {
  if (status !== 'requires_action') return { status: status === 'active' ? status : 'ended' }
  const url = next?.redirect_to_url?.url
  return { status, action: url === undefined ? null : { type: 'redirect', url } }
}

/**
 * Stripe makes a payment method of the card, so no number is handled, and the token from it. Both requests
 * have the reference as their idempotency key: a repetition finds what the first call has created. A token
 * lives for a day at most, and Stripe keeps keys for at least as long.
 */
async function createToken(
  stripe: Stripe,
  order: SharedTokenOrder,
  { reference }: ProcessorCall,
): Promise<SharedToken | ProcessorFailure> {
  const { processorCardId, seller, amount, currency, expiresAt, returnUrl } = order
  const method = PaymentMethod.safeParse(
    await stripe.rawRequest(
      'POST',
      '/v1/payment_methods',
      { type: 'card', card: { issuing_card: processorCardId } },
      { idempotencyKey: `${reference}/method`, apiVersion: STRIPE_PREVIEW_VERSION },
    ),
  )
  if (!method.success) return UNUSABLE_ANSWER
  const token = Token.safeParse(
    await stripe.rawRequest(
      'POST',
      '/v1/shared_payment/issued_tokens',
      {
        payment_method: method.data.id,
        seller_details: { network_business_profile: seller },
        usage_limits: {
          currency,
          max_amount: Number(amount),
          expires_at: Math.floor(Date.parse(expiresAt) / 1_000),
        },
        ...(returnUrl === undefined ? {} : { use_stripe_sdk: false, return_url: returnUrl }),
      },
      { idempotencyKey: reference, apiVersion: STRIPE_PREVIEW_VERSION },
    ),
  )
  if (!token.success) return UNUSABLE_ANSWER
  return { tokenId: token.data.id, last4: method.data.card.last4, state: stateFrom(token.data) }
}

const pathOf = (tokenId: string): string => `/v1/shared_payment/issued_tokens/${encodeURIComponent(tokenId)}`

async function readState(stripe: Stripe, tokenId: string): Promise<SharedTokenState | ProcessorFailure> {
  const options = { apiVersion: STRIPE_PREVIEW_VERSION }
  const state = State.safeParse(await stripe.rawRequest('GET', pathOf(tokenId), undefined, options))
  return state.success ? stateFrom(state.data) : UNUSABLE_ANSWER
}

const ENDED = new Set<unknown>(['revoked', 'expired', 'consumed', 'resolved'])

const Ended = z.object({ deactivated_reason: z.string().nullish() })

/**
 * Stripe may refuse to revoke a token that has ended, so the token’s own state counts. While it is active, it must be
 * revoked later: without an idempotency key, under which Stripe would repeat its refusal.
 */
async function revokeToken(stripe: Stripe, tokenId: string): Promise<ProcessorCallDone | ProcessorFailure> {
  const path = pathOf(tokenId)
  const options = { apiVersion: STRIPE_PREVIEW_VERSION }
  const answer = await stripe.rawRequest('POST', `${path}/revoke`, {}, options).catch(failureFromStripeError)
  if (!isProcessorFailure(answer)) return hasEnded(answer) ? CALL_DONE : UNUSABLE_ANSWER
  if (answer.failure !== 'refused') return answer
  return hasEnded(await stripe.rawRequest('GET', path, undefined, options)) ? CALL_DONE : { failure: 'late' }
}

const hasEnded = (token: unknown): boolean => ENDED.has(Ended.safeParse(token).data?.deactivated_reason)
