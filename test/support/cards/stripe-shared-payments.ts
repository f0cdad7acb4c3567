import { STRIPE_PREVIEW_VERSION } from '../../../src/adapters/stripe/issuing/shared-tokens.ts'
import type { StripeAnswer, StripeObject, StripeParams, StripeRequest } from './stripe-exchange.ts'

type Params = StripeParams

/** The business profile that the double's own account sells as. */
export interface StripeSeller {
  profile: string
}

interface CardCharge {
  readonly card: string
  readonly amount: number
  readonly currency: string
  readonly paymentIntent: string
}

/** Asks the issuer of a shared card; tests let it send Stripe's real-time event to the service. */
export interface NetworkOfDouble {
  approves(charge: CardCharge): Promise<boolean>
}

/** Whether the issuer of a shared card asks its holder, and what that person has done. */
export interface HolderOfDouble {
  /** `token`: already for the token; `charge`: for the payment that the seller makes with it. */
  isAsked: 'token' | 'charge' | 'never'
  /** The person confirms at the page: the token is usable, and a payment that waits for it goes on. */
  confirms(tokenId: string): Promise<void>
  /** The person does not confirm: nothing can be charged. */
  refuses(tokenId: string): void
}

type Route = [
  RegExp,
  (params: Params, id: string, request: StripeRequest) => StripeAnswer | Promise<StripeAnswer>,
]

const found = (body: StripeObject): StripeAnswer => ({ status: 200, body })

const refused = (status: number, error: StripeObject): StripeAnswer => ({
  status,
  body: { error: { type: 'invalid_request_error', ...error } },
})

const unknownParameter = (param: string) =>
  refused(400, { code: 'parameter_unknown', param, message: `Received unknown parameter: ${param}` })

const missing = (id: string) => refused(404, { code: 'resource_missing', message: `No such object: ${id}` })

const treeOf = (value: Params[string] | undefined): Params => (typeof value === 'object' ? value : {})

const isPreview = ({ headers }: StripeRequest): boolean =>
  String(headers['stripe-version']) === STRIPE_PREVIEW_VERSION

const seconds = (): number => Math.floor(Date.now() / 1_000)

/**
 * Shared payment tokens and payments by them, in the shapes of Stripe's reference. The same account issues the
 * cards and sells, as in a test of both sides.
 */
export function sharedPaymentRoutes(cards: ReadonlyMap<string, StripeObject>) {
  const methods = new Map<string, StripeObject>()
  const tokens = new Map<string, StripeObject>()
  const intents = new Map<string, StripeObject>()
  const refunds = new Map<string, StripeObject>()
  /** Chargebacks of received payments, each with the balance transactions that it has caused. */
  const chargebacks = new Map<string, StripeObject>()
  const seller: StripeSeller = { profile: 'profile_test_seller' }
  const network: NetworkOfDouble = { approves: async () => true }
  /** Payments that wait for the holder, by their token. */
  const asked = new Map<string, () => Promise<StripeAnswer>>()
  const holder: HolderOfDouble = {
    isAsked: 'never',
    async confirms(tokenId) {
      tokens.set(tokenId, { ...tokens.get(tokenId), status: 'active', next_action: null })
      await asked.get(tokenId)?.()
    },
    refuses: tokenId => deactivate(tokenId, 'revoked'),
  }

  function asking(tokenId: string): StripeObject {
    const { return_url, use_stripe_sdk } = tokens.get(tokenId) ?? {}
    const url = `https://hooks.stripe.com/redirect/authenticate/${tokenId}`
    const next_action =
      use_stripe_sdk === false
        ? { type: 'redirect_to_url', redirect_to_url: { url, return_url } }
        : { type: 'use_stripe_sdk', use_stripe_sdk: { value: 'eyJ0eXBlIjoiM2RzIn0=' } }
    tokens.set(tokenId, { ...tokens.get(tokenId), status: 'requires_action', next_action })
    return tokens.get(tokenId) as StripeObject
  }

  function createMethod({ type, card }: Params, _: string, request: StripeRequest): StripeAnswer {
    const { issuing_card: issued } = treeOf(card)
    if (!isPreview(request)) return unknownParameter('card[issuing_card]')
    if (type !== 'card' || typeof issued !== 'string' || !cards.has(issued)) return missing(String(issued))
    const id = `pm_${methods.size + 1}`
    const { last4 } = cards.get(issued) ?? {}
    methods.set(id, { id, object: 'payment_method', type, card: { last4 }, issuing_card: issued })
    const { issuing_card: _card, ...shown } = methods.get(id) ?? {}
    return found(shown)
  }

  function createToken(params: Params, _: string, request: StripeRequest): StripeAnswer {
    const { network_business_profile } = treeOf(params.seller_details)
    const { currency, max_amount, expires_at } = treeOf(params.usage_limits)
    if (!isPreview(request)) return refused(404, { message: 'Unrecognized request URL' })
    if (!methods.has(String(params.payment_method))) return missing(String(params.payment_method))
    if (Number(expires_at) <= seconds())
      return refused(400, { param: 'usage_limits[expires_at]', message: 'Must be in the future.' })
    const usesSdk = params.use_stripe_sdk !== 'false'
    if (!usesSdk && params.return_url === undefined)
      return refused(400, { param: 'return_url', message: 'A return_url is required without the SDK.' })
    const id = `spt_${tokens.size + 1}`
    tokens.set(id, {
      id,
      object: 'shared_payment.issued_token',
      created: seconds(),
      deactivated_at: null,
      deactivated_reason: null,
      livemode: false,
      next_action: null,
      payment_method: params.payment_method,
      return_url: params.return_url ?? null,
      use_stripe_sdk: usesSdk,
      seller_details: { external_id: null, network_business_profile },
      status: 'active',
      usage_details: { amount_captured: { currency, value: 0 } },
      usage_limits: { currency, max_amount: Number(max_amount), expires_at: Number(expires_at) },
    })
    return found(holder.isAsked === 'token' ? asking(id) : (tokens.get(id) as StripeObject))
  }

  function deactivate(id: string, reason: 'revoked' | 'consumed'): void {
    const ended = { status: 'deactivated', deactivated_reason: reason, deactivated_at: seconds() }
    tokens.set(id, { ...tokens.get(id), ...ended })
  }

  function revokeToken(_: Params, id: string): StripeAnswer {
    const token = tokens.get(id)
    if (!token) return missing(id)
    if (token.deactivated_reason !== null)
      return refused(400, { message: 'This shared payment token is deactivated.' })
    deactivate(id, 'revoked')
    return found(tokens.get(id) as StripeObject)
  }

  /** What is wrong with charging this token, as Stripe checks it. */
  function chargeProblem(token: StripeObject, { amount, currency }: Params): string | undefined {
    const { usage_limits, seller_details, deactivated_reason } = token
    const limits = usage_limits as { currency: string; max_amount: number; expires_at: number }
    const { network_business_profile } = seller_details as { network_business_profile: string }
    if (deactivated_reason !== null) return 'The token is deactivated.'
    if (token.status === 'requires_action') return 'The token requires an action of its customer.'
    if (network_business_profile !== seller.profile) return 'The token was granted to another seller.'
    if (limits.currency !== currency) return 'The currency is not that of the token.'
    if (Number(amount) > limits.max_amount) return 'The amount exceeds the limit of the token.'
    return limits.expires_at <= seconds() ? 'The token has expired.' : undefined
  }

  async function createIntent(params: Params): Promise<StripeAnswer> {
    const tokenId = String(params.shared_payment_granted_token)
    const token = tokens.get(tokenId)
    if (!token) return missing(tokenId)
    const message = chargeProblem(token, params)
    if (message) return refused(400, { param: 'shared_payment_granted_token', message })
    const id = `pi_${intents.size + 1}`
    const amount = Number(params.amount)
    const currency = String(params.currency)
    const card = String(methods.get(String(token.payment_method))?.issuing_card)
    const made = {
      id,
      object: 'payment_intent',
      amount,
      amount_received: 0,
      currency,
      created: seconds(),
      latest_charge: null,
      last_payment_error: null,
      metadata: treeOf(params.metadata),
      status: 'processing',
    }
    const charge = { id, made, card, tokenId }
    if (holder.isAsked !== 'charge') return askNetwork(charge)
    asking(tokenId)
    asked.set(tokenId, () => askNetwork(charge))
    intents.set(id, { ...made, status: 'requires_action' })
    return found(intents.get(id) as StripeObject)
  }

  interface Charging {
    readonly id: string
    readonly made: StripeObject & { readonly amount: number; readonly currency: string }
    readonly card: string
    readonly tokenId: string
  }

  async function askNetwork({ id, made, card, tokenId }: Charging): Promise<StripeAnswer> {
    const { amount, currency } = made
    intents.set(id, made)
    if (!(await network.approves({ card, amount, currency, paymentIntent: id }))) {
      const error = { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' }
      intents.set(id, { ...made, status: 'requires_payment_method', last_payment_error: error })
      return refused(402, { ...error, payment_intent: intents.get(id) })
    }
    deactivate(tokenId, 'consumed')
    intents.set(id, { ...made, status: 'succeeded', amount_received: amount, latest_charge: `ch_${id}` })
    return found(intents.get(id) as StripeObject)
  }

  function createRefund({ payment_intent, amount, metadata }: Params): StripeAnswer {
    const intent = intents.get(String(payment_intent))
    if (!intent) return missing(String(payment_intent))
    const given = [...refunds.values()].filter(
      one => one.payment_intent === payment_intent && one.status !== 'failed',
    )
    const total = given.reduce((sum, one) => sum + Number(one.amount), Number(amount))
    if (total > Number(intent.amount_received))
      return refused(400, { code: 'charge_already_refunded', message: 'Nothing is left to refund.' })
    const id = `re_${refunds.size + 1}`
    refunds.set(id, {
      id,
      object: 'refund',
      amount: Number(amount),
      currency: intent.currency,
      metadata: treeOf(metadata),
      payment_intent,
      status: 'succeeded',
    })
    return found(refunds.get(id) as StripeObject)
  }

  const ofIntent =
    (store: ReadonlyMap<string, StripeObject>) =>
    ({ payment_intent, limit, starting_after }: Params): StripeAnswer => {
      const all = [...store.values()].filter(one => one.payment_intent === payment_intent).reverse()
      const from = starting_after === undefined ? 0 : all.findIndex(({ id }) => id === starting_after) + 1
      const data = all.slice(from, from + Number(limit))
      return found({ object: 'list', data, has_more: from + data.length < all.length })
    }

  function search({ query }: Params): StripeAnswer {
    const [, reference] = /^metadata\['reference'\]:'(.*)'$/.exec(String(query)) ?? []
    const data = [...intents.values()].filter(
      ({ metadata }) => (metadata as { reference?: string }).reference === reference,
    )
    return found({ object: 'search_result', data, has_more: false })
  }

  const shown =
    (store: ReadonlyMap<string, StripeObject>) =>
    (_: Params, id: string): StripeAnswer => {
      const body = store.get(id)
      return body ? found(body) : missing(id)
    }

  const routes: Route[] = [
    [/^POST payment_methods$/, createMethod],
    [/^POST shared_payment\/issued_tokens$/, createToken],
    [/^GET shared_payment\/issued_tokens\/(\w+)$/, shown(tokens)],
    [/^POST shared_payment\/issued_tokens\/(\w+)\/revoke$/, revokeToken],
    [/^GET shared_payment\/granted_tokens\/(\w+)$/, shown(tokens)],
    [/^POST payment_intents$/, createIntent],
    [/^GET payment_intents\/search$/, search],
    [/^GET payment_intents\/(\w+)$/, shown(intents)],
    [/^POST payment_intents\/(\w+)\/cancel$/, (_, id) => found({ id, status: 'canceled' })],
    [/^POST refunds$/, createRefund],
    [/^GET refunds$/, ofIntent(refunds)],
    [/^GET disputes$/, ofIntent(chargebacks)],
  ]
  return { routes, tokens, intents, refunds, chargebacks, seller, network, holder }
}
