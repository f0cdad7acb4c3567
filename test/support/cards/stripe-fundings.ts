import { listOf } from './form.ts'
import type { StripeAnswer, StripeObject, StripeParams } from './stripe-exchange.ts'

type Params = StripeParams
type Answer = StripeAnswer | undefined

/** What the payer's bank does with a payment that is off session, and with one for which the payer is there. */
interface PayersBank {
  offSession(intent: StripeObject): Outcome
  withPayer(intent: StripeObject): Outcome
}

type Outcome =
  | { readonly status: 'succeeded' | 'processing' | 'requires_action' }
  | { readonly code: string; readonly decline_code?: string; readonly message: string }

export interface EnteredMethod {
  readonly type: 'card' | 'sepa_debit'
  readonly last4: string
}

const found = (body: StripeObject | undefined): StripeAnswer =>
  body ? { status: 200, body } : refused(404, { code: 'resource_missing', message: 'No such object' })

const refused = (status: number, error: StripeObject): StripeAnswer => ({
  status,
  body: { error: { type: 'invalid_request_error', ...error } },
})

const listed = (data: readonly StripeObject[]): StripeAnswer =>
  found({ object: 'list', data, has_more: false })

const seconds = (): number => Math.floor(Date.now() / 1_000)

interface SharedStores {
  readonly intents: Map<string, StripeObject>
  readonly refunds: Map<string, StripeObject>
  /** Disputes of payments by shared token. */
  readonly chargebacks: ReadonlyMap<string, StripeObject>
}

/**
 * Pages at which people enter cards and bank accounts, payments by these, and what their banks take back, in the
 * shapes of Stripe's reference.
 */
export function fundingRoutes({ intents, refunds, chargebacks }: SharedStores) {
  const sessions = new Map<string, StripeObject>()
  const methods = new Map<string, StripeObject>()
  const disputes = new Map<string, StripeObject>()
  const bank: PayersBank = {
    offSession: ({ kind }) => ({ status: kind === 'card' ? 'succeeded' : 'processing' }),
    withPayer: () => ({ status: 'requires_action' }),
  }

  function createSession(params: Params): Answer {
    const { mode, currency, customer_creation, success_url, client_reference_id } = params
    const types = listOf(params.allowed_payment_method_types)
    if (mode !== 'setup' || currency !== 'eur' || customer_creation !== 'always' || types.length === 0)
      return refused(400, { message: 'Received an invalid parameter.' })
    const id = `cs_${sessions.size + 1}`
    sessions.set(id, {
      ...{ id, object: 'checkout.session', mode, success_url, client_reference_id, types },
      ...{ url: `https://checkout.stripe.com/c/pay/${id}`, expires_at: seconds() + 86_400 },
      ...{ status: 'open', customer: null, setup_intent: null },
    })
    return found(sessions.get(id))
  }

  /** The person enters a card or bank account at the page. */
  function enter(sessionId: string, { type, last4 }: EnteredMethod): void {
    const number = methods.size + 1
    const [id, customer] = [`pm_funding_${number}`, `cus_${number}`]
    const details = type === 'card' ? { brand: 'visa', last4 } : { last4, country: 'DE' }
    methods.set(id, { id, object: 'payment_method', type, customer, [type]: details })
    sessions.set(sessionId, {
      ...sessions.get(sessionId),
      ...{ status: 'complete', url: null, customer },
      setup_intent: {
        ...{ id: `seti_${number}`, status: 'succeeded' },
        ...{ mandate: type === 'card' ? null : `mandate_${number}`, payment_method: methods.get(id) },
      },
    })
  }

  const erased = new Set<string>()

  function eraseCustomer(_: Params, id: string): Answer {
    if (erased.has(id) || ![...sessions.values()].some(({ customer }) => customer === id))
      return found(undefined)
    erased.add(id)
    return found({ id, object: 'customer', deleted: true })
  }

  function detach(_: Params, id: string): Answer {
    if (!methods.get(id)?.customer) return refused(400, { message: 'The payment method is not attached.' })
    methods.set(id, { ...methods.get(id), customer: null })
    return found(methods.get(id))
  }

  function settle(id: string, outcome: Outcome): StripeAnswer {
    const intent = intents.get(id) ?? {}
    if ('code' in outcome) {
      const error = { type: 'card_error', ...outcome }
      intents.set(id, { ...intent, status: 'requires_payment_method', last_payment_error: error })
      return refused(402, { ...error, payment_intent: intents.get(id) })
    }
    const { status } = outcome
    const url = `https://hooks.stripe.com/3d_secure/${id}`
    const next_action =
      status === 'requires_action' ? { type: 'redirect_to_url', redirect_to_url: { url } } : null
    const latest_charge = status === 'succeeded' ? `ch_${id}` : null
    intents.set(id, { ...intent, status, next_action, last_payment_error: null, latest_charge })
    return found(intents.get(id))
  }

  /** Undefined for a payment by shared token. */
  function createIntent(params: Params): Answer {
    const { amount, currency, customer, payment_method, metadata, mandate = null } = params
    if (customer === undefined) return undefined
    const [kind] = listOf(params.allowed_payment_method_types)
    const method = methods.get(String(payment_method))
    if (method?.customer !== customer || method?.type !== kind || params.off_session !== 'true')
      return refused(400, { code: 'payment_method_unexpected_state', message: 'It is not attached.' })
    if (Number(amount) < 50)
      return refused(400, { code: 'amount_too_small', message: 'Amount must be at least €0.50 eur' })
    const id = `pi_funding_${intents.size + 1}`
    intents.set(id, {
      ...{ id, object: 'payment_intent', amount: Number(amount), currency, customer, payment_method, kind },
      ...{ mandate, metadata, created: seconds(), next_action: null, last_payment_error: null },
      ...{ latest_charge: null },
    })
    return settle(id, bank.offSession(intents.get(id) ?? {}))
  }

  function confirm({ return_url }: Params, id: string): Answer {
    const intent = intents.get(id)
    if (!intent || typeof return_url !== 'string') return found(undefined)
    return settle(id, bank.withPayer(intent))
  }

  function cancel(_: Params, id: string): Answer {
    const intent = intents.get(id)
    if (!intent?.customer) return undefined
    if (intent.status !== 'requires_action' && intent.status !== 'requires_payment_method')
      return refused(400, { code: 'payment_intent_unexpected_state', message: 'It cannot be canceled.' })
    intents.set(id, { ...intent, status: 'canceled' })
    return found(intents.get(id))
  }

  function listIntents({ customer }: Params): Answer {
    if (customer === undefined) return undefined
    return listed([...intents.values()].filter(one => one.customer === customer).reverse())
  }

  /** Undefined for a payment by shared token. */
  function listDisputes({ payment_intent: wanted, expand }: Params): Answer {
    if (wanted !== undefined && !intents.get(String(wanted))?.customer) return undefined
    if (wanted !== undefined)
      return listed([...disputes.values()].filter(one => one.payment_intent === wanted))
    return listed(withIntents([...disputes.values(), ...chargebacks.values()], expand))
  }

  function withIntents(list: readonly StripeObject[], expand: Params[string] | undefined): StripeObject[] {
    const isExpanded = listOf(expand).includes('data.payment_intent')
    return list.map(one =>
      isExpanded ? { ...one, payment_intent: intents.get(String(one.payment_intent)) ?? null } : one,
    )
  }

  /** Undefined for those of one payment. */
  const listRefunds = ({ payment_intent: wanted, expand }: Params): Answer =>
    wanted === undefined ? listed(withIntents([...refunds.values()], expand)) : undefined

  /** Someone refunds a payment in the dashboard. */
  function refund(payment_intent: string, amount: number): string {
    const id = `re_${refunds.size + 1}`
    refunds.set(id, {
      ...{ id, object: 'refund', amount, currency: 'eur', metadata: {}, payment_intent },
      ...{ status: 'succeeded', reason: 'requested_by_customer', created: seconds() },
    })
    return id
  }

  /** The payer's bank takes money back: a chargeback, or a returned SEPA direct debit. */
  function takeBack(intentId: string, amount: number, reason = 'general'): string {
    const id = `dp_${disputes.size + 1}`
    const charge = String(intents.get(intentId)?.latest_charge)
    disputes.set(id, {
      ...{ id, object: 'dispute', amount, reason, charge, payment_intent: intentId, created: seconds() },
      ...{ metadata: {}, balance_transactions: [{ id: `txn_${id}`, amount: -amount, currency: 'eur' }] },
    })
    return id
  }

  /** Negative to take more. */
  function giveBack(disputeId: string, amount?: number): void {
    const dispute = disputes.get(disputeId) ?? {}
    const before = dispute.balance_transactions as StripeObject[]
    const id = `txn_${disputeId}_${before.length}`
    const moved = [...before, { id, amount: amount ?? dispute.amount, currency: 'eur' }]
    disputes.set(disputeId, { ...dispute, balance_transactions: moved })
  }

  const routes: [RegExp, (params: Params, id: string) => Answer | undefined][] = [
    [/^POST checkout\/sessions$/, createSession],
    [/^GET checkout\/sessions\/(\w+)$/, (_, id) => found(sessions.get(id))],
    [/^POST payment_methods\/(\w+)\/detach$/, detach],
    [/^DELETE customers\/(\w+)$/, eraseCustomer],
    [/^POST payment_intents$/, createIntent],
    [/^GET payment_intents$/, listIntents],
    [/^POST payment_intents\/(\w+)\/confirm$/, confirm],
    [/^POST payment_intents\/(\w+)\/cancel$/, cancel],
    [/^GET disputes$/, listDisputes],
    [/^GET refunds$/, listRefunds],
  ]
  return { routes, sessions, methods, disputes, bank, erased, enter, settle, takeBack, giveBack, refund }
}
