import { afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { AcquirerCharge } from '../../src/ports/acquirer.ts'
import { isProcessorFailure, type SharedTokenOrder } from '../../src/ports/card-processor.ts'
import { cents } from '../../src/values/money.ts'
import { callOf, requestedAt } from '../support/cards/sandbox.ts'
import { aCard, acquirerAt, eventOf, signed, stripeAt } from '../support/cards/stripe.ts'
import { refusal, startStripeDouble } from '../support/cards/stripe-double.ts'

const stripe = await startStripeDouble()
const issuer = stripeAt(stripe.url)
const acquirer = acquirerAt(stripe.url, stripe.seller.profile)
const call = { requestId: 'request-1', now: requestedAt }
const INTENTS = /^POST payment_intents$/

beforeAll(() => issuer.issue(aCard(), callOf('issue_1')))
afterEach(() => {
  stripe.heal()
  stripe.network.approves = async () => true
})

let tokens = 0
async function aToken(more: Partial<SharedTokenOrder> = {}): Promise<string> {
  const expiresAt = new Date(Date.now() + 60_000).toISOString()
  const order = { processorCardId: 'ic_1', seller: stripe.seller.profile, amount: '2000', currency: 'eur' }
  const token = await issuer.sharedTokens?.create(
    { ...order, expiresAt, ...more },
    callOf(`token_${++tokens}`),
  )
  if (!token || isProcessorFailure(token)) throw new Error(JSON.stringify(token))
  return token.tokenId
}

const orderFor = (handle: string, reference = `challenge-${handle}`): AcquirerCharge => ({
  handle,
  amountCents: cents(2_000n),
  reference,
  descriptor: 'Books & More',
  ownerId: 'owner_1',
  mode: 'test',
})

const charge = (order: AcquirerCharge) => acquirer.charge({ ...order, token: order.handle }, call)

const intentsOf = ({ reference }: AcquirerCharge) =>
  [...stripe.intents.values()].filter(
    ({ metadata }) => (metadata as { reference?: string }).reference === reference,
  )

const refundsOf = (order: AcquirerCharge) => {
  const [intent] = intentsOf(order)
  return [...stripe.refunds.values()].filter(({ payment_intent }) => payment_intent === intent?.id)
}

describe('Stripe as the acquirer', () => {
  test('charges a shared payment token once, by a payment intent that carries the reference', async () => {
    const order = orderFor(await aToken())
    expect(acquirer.sharedTokens?.accept(order.handle)).toEqual({
      handle: order.handle,
      network: 'stripe',
      last4: null,
    })
    for (const asked of [charge(order), charge(order), acquirer.stateOf(order, call)])
      expect(await asked).toEqual({ outcome: 'approved' })
    expect(intentsOf(order)).toMatchObject([{ amount: 2_000, currency: 'eur', status: 'succeeded' }])
    expect(stripe.to(INTENTS)[0]?.params).toMatchObject({
      confirm: 'true',
      shared_payment_granted_token: order.handle,
      automatic_payment_methods: { enabled: 'true', allow_redirects: 'never' },
    })
  })

  test('finds a charge whose answer was lost, even once Stripe has forgotten its key', async () => {
    const order = orderFor(await aToken())
    stripe.afterwards(INTENTS, response => response.destroy())
    expect(await charge(order)).toEqual({ outcome: 'late' })
    stripe.heal()
    stripe.forgetKeys()
    expect(await acquirer.stateOf(order, call)).toEqual({ outcome: 'approved' })
    expect(intentsOf(order)).toHaveLength(1)
  })

  test('reads the state of a charge that was under way when Stripe first answered', async () => {
    const order = orderFor(await aToken())
    const isUnderWay = () =>
      stripe.break(INTENTS, (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"id":"pi_slow","status":"processing"}'),
      )
    isUnderWay()
    expect(await charge(order)).toEqual({ outcome: 'late' })
    stripe.intents.set('pi_slow', { id: 'pi_slow', status: 'succeeded', metadata: {} })
    isUnderWay()
    expect(await acquirer.stateOf(order, call)).toEqual({ outcome: 'approved' })
  })

  test('reports a decline with its code, and again when it is asked for the state', async () => {
    const order = orderFor(await aToken())
    stripe.network.approves = async () => false
    const declined = { outcome: 'declined', code: 'card_declined', reason: 'Your card was declined.' }
    expect(await charge(order)).toEqual(declined)
    expect(await acquirer.stateOf(order, call)).toEqual(declined)
  })

  test.each([
    ['of another seller', { seller: 'profile_other' }],
    ['of a smaller limit', { amount: '1999' }],
    ['of another currency', { currency: 'usd' }],
  ])('charges no token %s', async (_, more) => {
    const order = orderFor(await aToken(more))
    expect(await charge(order)).toMatchObject({ outcome: 'declined' })
    expect(intentsOf(order)).toEqual([])
  })

  test('leaves open what its key has made with other parameters', async () => {
    const order = orderFor(await aToken())
    stripe.break(INTENTS, (_, response) =>
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(
          '{"error":{"type":"idempotency_error","message":"Keys can only be used with the same parameters."}}',
        ),
    )
    expect(await charge(order)).toEqual({ outcome: 'unusable' })
    expect(await acquirer.stateOf(order, call)).toEqual({ outcome: 'unusable' })
    stripe.heal()
    expect(await acquirer.stateOf(order, call)).toEqual({ outcome: 'approved' })
  })

  test('cancels a payment that would ask the holder, which a program cannot', async () => {
    const order = orderFor(await aToken())
    stripe.break(INTENTS, (_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"id":"pi_asks","status":"requires_action"}'),
    )
    expect(await charge(order)).toMatchObject({ outcome: 'declined', code: 'requires_action' })
    expect(stripe.to(/^POST payment_intents\/pi_asks\/cancel$/)).toHaveLength(1)
  })

  test('refunds in parts, each once, and never more than was charged', async () => {
    const order = orderFor(await aToken())
    await charge(order)
    const refund = (refundReference: string, amount: bigint) =>
      acquirer.refund({ ...order, amountCents: cents(amount), refundReference }, call)
    for (const reference of ['refund_1', 'refund_1', 'refund_2'])
      expect(await refund(reference, 800n)).toEqual({ outcome: 'approved' })
    expect(await refund('refund_3', 800n)).toMatchObject({ outcome: 'declined' })
    expect(refundsOf(order)).toMatchObject([{ amount: 800 }, { amount: 800 }])
  })

  test('finds a refund that was made, even once Stripe has forgotten its key', async () => {
    const order = orderFor(await aToken())
    await charge(order)
    const refund = () =>
      acquirer.refund({ ...order, amountCents: cents(800n), refundReference: 'kept_1' }, call)
    expect(await refund()).toEqual({ outcome: 'approved' })
    stripe.forgetKeys()
    expect(await refund()).toEqual({ outcome: 'approved' })
    expect(refundsOf(order)).toMatchObject([{ amount: 800 }])
  })

  test('reports a refund as under way until the bank has taken it, and as declined once it fails', async () => {
    const order = orderFor(await aToken())
    await charge(order)
    const refund = () =>
      acquirer.refund({ ...order, amountCents: cents(800n), refundReference: 'slow_1' }, call)
    await refund()
    const [{ id = '' } = {}] = refundsOf(order) as { id: string }[]
    const becomes = (state: object) => stripe.refunds.set(id, { ...stripe.refunds.get(id), ...state })
    becomes({ status: 'pending' })
    expect(await refund()).toEqual({ outcome: 'late' })
    becomes({ status: 'failed', failure_reason: 'expired_or_canceled_card' })
    const failed = {
      outcome: 'declined',
      code: 'failed',
      reason: expect.stringContaining('expired_or_canceled'),
    }
    expect(await refund()).toEqual(failed)
    expect(await acquirer.returnsOf(order, call)).toMatchObject({
      refunds: [{ refundReference: 'slow_1', outcome: failed }],
    })
  })

  test('reads all refunds and chargebacks of a payment, page by page', async () => {
    const order = orderFor(await aToken())
    await charge(order)
    const [{ id: payment_intent } = {}] = intentsOf(order)
    for (let n = 0; n < 101; n++)
      stripe.refunds.set(`re_page_${n}`, {
        ...{
          id: `re_page_${n}`,
          payment_intent,
          amount: 1,
          status: 'succeeded',
          metadata: { refund: `page_${n}` },
        },
      })
    const moved = (amount: number) => ({ object: 'balance_transaction', amount, currency: 'eur' })
    stripe.chargebacks.set('dp_1', {
      ...{ id: 'dp_1', payment_intent, reason: 'fraudulent', status: 'won' },
      balance_transactions: [moved(-2_000), moved(2_000)],
    })
    const returns = await acquirer.returnsOf(order, call)
    if ('outcome' in returns) throw new Error(returns.outcome)
    expect(returns.refunds).toHaveLength(101)
    expect(returns.chargebacks).toEqual([
      {
        ...{ id: 'dp_1', kind: 'chargeback', reason: 'fraudulent' },
        ...{ withdrawnCents: 2_000n, reinstatedCents: 2_000n },
      },
    ])
  })

  test('lists what was returned of its own charges since a time: chargebacks, and refunds by whomever', async () => {
    const order = orderFor(await aToken())
    await charge(order)
    const [{ id: payment_intent } = {}] = intentsOf(order)
    const { reference, ownerId, mode } = order
    stripe.intents.set('pi_of_others', { id: 'pi_of_others', metadata: { order: '17' } })
    const refunded = (id: string, members: object) =>
      stripe.refunds.set(id, {
        ...{ id, amount: 300, metadata: {}, payment_intent, reason: null },
        ...members,
      })
    refunded('re_made_elsewhere', { status: 'succeeded', reason: 'duplicate' })
    refunded('re_failed_elsewhere', { status: 'failed' })
    refunded('re_cancelled_elsewhere', { status: 'canceled' })
    refunded('re_taken_back_elsewhere', { status: 'canceled', failure_balance_transaction: 'txn_back' })
    refunded('re_asked', { status: 'succeeded', metadata: { refund: 'asked_1' } })
    refunded('re_asked_in_vain', { status: 'failed', metadata: { refund: 'asked_2' } })
    refunded('re_under_way', { status: 'pending', metadata: { refund: 'asked_3' } })
    refunded('re_of_others', { status: 'succeeded', payment_intent: 'pi_of_others' })
    stripe.chargebacks.set('dp_listed', {
      ...{ id: 'dp_listed', payment_intent, reason: 'general' },
      balance_transactions: [{ amount: -500, currency: 'eur' }],
    })
    const listed = (await acquirer.returnsSince?.(requestedAt)) ?? []
    const mine = listed.filter(one => one.reference === reference)
    const of = { reference, ownerId, mode }
    const elsewhere = (id: string, reason: string, reinstatedCents: bigint) => ({
      ...of,
      chargeback: { id, kind: 'refund', reason, withdrawnCents: 300n, reinstatedCents },
    })
    const chargeback = { id: 'dp_listed', kind: 'chargeback', reason: 'general' }
    expect(mine).toEqual([
      { ...of, chargeback: { ...chargeback, withdrawnCents: 500n, reinstatedCents: 0n } },
      elsewhere('re_made_elsewhere', 'duplicate', 0n),
      elsewhere('re_failed_elsewhere', 'no reason', 300n),
      elsewhere('re_taken_back_elsewhere', 'no reason', 300n),
      { ...of, refundReference: 'asked_1', outcome: 'approved' },
      { ...of, refundReference: 'asked_2', outcome: 'declined' },
    ])
    stripe.break(/^GET refunds$/, refusal(500, { message: 'Not now.' }))
    expect(await acquirer.returnsSince?.(requestedAt)).toBeNull()
  })

  test('leaves the outcome of a refund open while Stripe does not find the payment yet', async () => {
    const order = orderFor(await aToken(), 'challenge-not-found')
    expect(await acquirer.refund({ ...order, refundReference: 'refund_9' }, call)).toEqual({
      outcome: 'late',
    })
  })

  test('accepts no network tokens, and leaves a charge open while Stripe is busy', async () => {
    expect(acquirer.networks).toEqual([])
    expect(acquirer.accept({})).toMatchObject({ refused: expect.any(String) })
    stripe.break(INTENTS, refusal(429, { message: 'Too many requests.' }))
    expect(await charge(orderFor(await aToken()))).toEqual({ outcome: 'late' })
  })
})

describe('a notice of Stripe about a charge', () => {
  const read = (type: string, object: unknown, headers?: Record<string, string>) => {
    const body = eventOf(type, object)
    return acquirer.notices?.read(Buffer.from(body), headers ?? signed(body), requestedAt)
  }

  test('names the charge and its owner: from its own metadata, or from that of the payment intent', async () => {
    const order = orderFor(await aToken())
    await charge(order)
    const [intent] = intentsOf(order)
    const { reference } = order
    const notice = { kind: 'notice', reference, ownerId: 'owner_1', mode: 'test' }
    expect(await read('payment_intent.succeeded', intent)).toEqual({ ...notice, about: 'charge' })
    for (const payment_intent of [intent?.id, intent])
      expect(await read('charge.dispute.created', { id: 'dp_1', payment_intent })).toEqual({
        ...notice,
        about: 'returns',
      })
  })

  test('is ignored where it is of another kind, or of a payment that was not made here', async () => {
    stripe.intents.set('pi_other', { id: 'pi_other', metadata: { reference: 'order-1' } })
    const ignored = { kind: 'ignored' }
    expect(await read('payout.paid', {})).toEqual(ignored)
    expect(await read('payment_intent.succeeded', stripe.intents.get('pi_other'))).toEqual(ignored)
    expect(await read('refund.failed', { payment_intent: 'pi_other', metadata: {} })).toEqual(ignored)
    expect(await read('refund.failed', { payment_intent: null })).toEqual(ignored)
  })

  test('without a valid signature or form is refused, and asked for again if Stripe does not answer', async () => {
    expect(await read('payment_intent.succeeded', {}, {})).toMatchObject({ kind: 'unsigned' })
    const forged = signed('{}', 'whsec_of_somebody_else')
    expect(await read('payment_intent.succeeded', {}, forged)).toMatchObject({ kind: 'unsigned' })
    expect(await read('payment_intent.succeeded', { id: 7 })).toMatchObject({ kind: 'unreadable' })
    expect(await read('charge.dispute.closed', { payment_intent: '../accounts' })).toMatchObject({
      kind: 'unreadable',
    })
    stripe.break(/^GET payment_intents/, refusal(500, { message: 'Try again.' }))
    expect(await read('charge.dispute.closed', { payment_intent: 'pi_1' })).toEqual({ kind: 'unanswered' })
  })
})
