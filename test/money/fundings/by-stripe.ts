import { afterEach, describe, expect, test } from '@jest/globals'
import { stripeFunding } from '../../../src/adapters/stripe/funding/stripe-funding.ts'
import { findDeletionBlockers } from '../../../src/compliance/gdpr/obstacles.ts'
import type { Context } from '../../../src/kernel/contract/context.ts'
import { followReturns } from '../../../src/money/fundings/index.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { SECRET_KEY } from '../../support/cards/stripe.ts'
import { refusal, startStripeDouble } from '../../support/cards/stripe-double.ts'
import { aLiveClient, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { DEBIT, fundingByStripe, stripePayers } from '../../support/money/stripe-payers.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const stripe = await startStripeDouble()
const { fundings } = stripe
const rail = stripeFunding({ secretKey: SECRET_KEY, webhookSecrets: [], apiUrl: stripe.url })
const service = await startTestService({ env: fundingByStripe(stripe.url) })
/** Without events, and with a clock that tests move. */
const silent = await startTestService({ outside: { fundingRail: () => rail } })
const bare = await startTestService({ env: { FUNDING_RAIL: 'stripe', STRIPE_SECRET_KEY: SECRET_KEY } })
const { aPayer, intentOf, tell, tellDispute, eventsOf } = stripePayers(service, stripe)
const { aPayer: aSilentPayer, intentOf: intentOfSilent } = stripePayers(silent, stripe)

const usual = { ...fundings.bank }
const CREATE = /^POST payment_intents$/

afterEach(() => {
  stripe.heal()
  Object.assign(fundings.bank, usual)
})

describe('a payment method of live mode', () => {
  test('is entered at Stripe, is added once, and is forgotten there when it is removed', async () => {
    const { client } = await aPayer()
    const { url, token } = await bodyOf(client.billing.setUpPaymentMethod())
    expect(url).toMatch(/^https:\/\/checkout\.stripe\.com\//)
    const add = () => client.billing.addPaymentMethod({ body: { token, holder: 'Ada King' } })
    expect(await add()).toMatchObject({ status: 400, code: 'setup_incomplete' })
    fundings.enter(token, DEBIT)
    const added = await times(5, add)
    expect(statusCounts(added)).toEqual({ 201: 5 })
    const ids = new Set(added.map(({ body }) => body.id))
    expect(ids.size).toBe(1)
    const [id = ''] = ids
    const stripeMethod = [...fundings.methods.values()].at(-1)
    expect((await client.billing.removePaymentMethod({ params: { id } })).status).toBe(204)
    expect(fundings.methods.get(String(stripeMethod?.id))).toMatchObject({ customer: null })
    expect(await add()).toMatchObject({ status: 400, code: 'token_unknown' })
  })

  test('is no other owner’s, and stays if Stripe does not answer its removal', async () => {
    const [one, other] = [await aPayer(), await aPayer()]
    const { token } = await bodyOf(one.client.billing.setUpPaymentMethod())
    fundings.enter(token, DEBIT)
    const body = { token, holder: 'Mallory' }
    expect(await other.client.billing.addPaymentMethod({ body })).toMatchObject({ code: 'token_unknown' })
    const params = { id: one.paymentMethodId }
    expect(await other.client.billing.removePaymentMethod({ params })).toMatchObject({ status: 404 })
    stripe.break(/detach$/, refusal(500, { message: 'Not now.' }))
    expect(await one.client.billing.removePaymentMethod({ params })).toMatchObject({
      status: 504,
      code: 'processor_silent',
    })
    stripe.heal()
    expect((await one.client.billing.removePaymentMethod({ params })).status).toBe(204)
  })
})

test('an account whose payment method can still be charged is not deleted', async () => {
  const { ownerId, paymentMethodId } = await aPayer()
  const context = { sql: service.sql as Context['sql'], tenant: { ownerId, mode: 'live' } } as const
  expect(await findDeletionBlockers({ type: 'owner', id: ownerId }, context)).toContainEqual({
    type: 'payment_method',
    id: paymentMethodId,
  })
})

test('an account is not deleted before the payers of its payment methods are erased at Stripe', async () => {
  const { client, ownerId, paymentMethodId: id } = await aPayer()
  stripe.break(/^DELETE customers/, refusal(500, { message: 'Not now.' }))
  expect((await client.billing.removePaymentMethod({ params: { id } })).status).toBe(204)
  const context = { sql: service.sql as Context['sql'], tenant: { ownerId, mode: 'live' } } as const
  expect(await findDeletionBlockers({ type: 'owner', id: ownerId }, context)).toContainEqual({
    type: 'payment_method',
    id,
  })
})

test('the payer of a removed payment method is erased at Stripe, once no charge is pending', async () => {
  const { client, paymentMethodId: id, funded, fundingOf, later } = await aSilentPayer(DEBIT, 'test')
  const { id: fundingId } = await funded()
  const { customer } = [...stripe.intents.values()].at(-1) ?? {}
  const eraseAt = async () =>
    (await silent.sql('select erase_at from payment_methods where id = $1', [id]))[0]?.erase_at
  expect((await client.billing.removePaymentMethod({ params: { id } })).status).toBe(204)
  await later(1)
  expect(fundings.erased.has(String(customer))).toBe(false)
  fundings.settle(intentOfSilent(fundingId).id, { status: 'succeeded' })
  await later(5 * 60)
  expect(await fundingOf(fundingId)).toMatchObject({ status: 'settled' })
  stripe.break(/^DELETE customers/, refusal(500, { message: 'Not now.' }))
  await later(24 * 60)
  expect([fundings.erased.has(String(customer)), await eraseAt()]).toEqual([false, expect.any(Date)])
  stripe.heal()
  await later(2 * 24 * 60)
  expect([fundings.erased.has(String(customer)), await eraseAt()]).toEqual([true, null])
})

describe('a funding by Stripe', () => {
  test('of a card is in the wallet at once, and once for each idempotency key', async () => {
    const { client, fundingBody, available } = await aPayer()
    const fund = () => client.fund.create({ body: fundingBody(), idempotencyKey: 'a-key' })
    const [first, again] = [await fund(), await fund()]
    expect(first).toMatchObject({ status: 200, body: { funding: { status: 'settled' } } })
    expect(again.body).toEqual(first.body)
    expect(intentOf(first.body.funding.id)).toMatchObject({ amount: 2_500 })
    expect(await available()).toBe(25)
    await expectVerifiedLedger(client)
  })

  test('by direct debit is pending until Stripe says that it has succeeded, in many voices', async () => {
    const { client, funded, fundingOf, available } = await aPayer(DEBIT)
    const { id, status } = await funded()
    expect([status, await available()]).toEqual(['pending', 0])
    const intent = intentOf(id)
    expect((await tell('payment_intent.processing', intent)).body).toEqual({ taken: true })
    expect((await fundingOf(id)).status).toBe('pending')
    fundings.settle(intent.id, { status: 'succeeded' })
    const told = await times(6, () => tell('payment_intent.succeeded', intent))
    expect(told.map(({ status }) => status)).toEqual(Array(6).fill(200))
    expect((await fundingOf(id)).status).toBe('settled')
    expect(await available()).toBe(25)
    expect((await eventsOf(id)).filter(event => event === 'funding.settled')).toHaveLength(1)
    await expectVerifiedLedger(client)
  })

  test('by direct debit is found settled without any event', async () => {
    const { later, funded, fundingOf } = await aSilentPayer(DEBIT, 'test')
    const { id } = await funded()
    await later(5 * 60)
    expect((await fundingOf(id)).status).toBe('pending')
    fundings.settle(intentOf(id).id, { status: 'succeeded' })
    await later(5 * 60)
    expect((await fundingOf(id)).status).toBe('settled')
  })

  test('by direct debit outlives days in which Stripe does not answer', async () => {
    const { later, funded, fundingOf, available } = await aSilentPayer(DEBIT, 'test')
    const { id } = await funded()
    stripe.break(/^GET payment_intents$/, refusal(500, { message: 'Not now.' }))
    await later(3 * 24 * 60)
    expect((await fundingOf(id)).status).toBe('pending')
    stripe.heal()
    fundings.settle(intentOf(id).id, { status: 'succeeded' })
    await later(5 * 60)
    expect([(await fundingOf(id)).status, await available()]).toEqual(['settled', 25])
  })

  test('that an older event is about stays as it is', async () => {
    const { funded, fundingOf } = await aPayer()
    const { id } = await funded()
    const late = { ...intentOf(id), status: 'requires_payment_method' }
    expect((await tell('payment_intent.payment_failed', late)).body).toEqual({ taken: true })
    expect((await fundingOf(id)).status).toBe('settled')
  })

  test('that is declined says why', async () => {
    fundings.bank.offSession = () => ({
      code: 'card_declined',
      decline_code: 'insufficient_funds',
      message: 'Your card has insufficient funds.',
    })
    const { fund, available } = await aPayer()
    const answer = await fund()
    expect(answer).toMatchObject({ status: 402, code: 'payment_failed' })
    expect(answer.error).toContain('Your card has insufficient funds.')
    expect(await available()).toBe(0)
  })

  test('that needs the payer gives an address, and settles once they have confirmed', async () => {
    fundings.bank.offSession = () => ({ code: 'authentication_required', message: 'Ask the payer.' })
    const { funded, fundingOf, available } = await aPayer()
    const funding = await funded()
    expect(funding).toMatchObject({
      status: 'requires_action',
      nextAction: { url: expect.stringMatching(/^https:\/\/hooks\.stripe\.com\//) },
    })
    const { id } = intentOf(funding.id)
    expect(stripe.to(/confirm$/).at(-1)?.params.return_url).toMatch(`/console/fundings/${funding.id}`)
    fundings.settle(id, { status: 'succeeded' })
    await tell('payment_intent.succeeded', intentOf(funding.id))
    expect(await fundingOf(funding.id)).toMatchObject({ status: 'settled', nextAction: null })
    expect(await available()).toBe(25)
  })

  test('whose answer is lost is found by the sweep, and charged once', async () => {
    const { later, funded, fundingOf, available } = await aSilentPayer(undefined, 'test')
    stripe.afterwards(CREATE, response => response.destroy())
    const { id, status } = await funded()
    expect(status).toBe('pending')
    stripe.heal()
    stripe.forgetKeys()
    await later(1)
    expect((await fundingOf(id)).status).toBe('settled')
    expect(intentOf(id).status).toBe('succeeded')
    expect(await available()).toBe(25)
  })

  test('that Stripe never received is made by the sweep, under the same key', async () => {
    const { later, funded, fundingOf } = await aSilentPayer(undefined, 'test')
    stripe.break(CREATE, (_, response) => response.destroy())
    const { id } = await funded()
    stripe.heal()
    await later(1)
    expect((await fundingOf(id)).status).toBe('settled')
    expect(new Set(stripe.to(CREATE).flatMap(({ key }) => (key?.endsWith(id) ? [key] : []))).size).toBe(1)
    expect(intentOf(id).status).toBe('succeeded')
  })
})

describe('a funding that the payer’s bank takes back', () => {
  test('months later is owed as far as it was spent, and repaid by the next money', async () => {
    const { client, walletId, fund, funded, fundingOf, available } = await aPayer(DEBIT)
    const { id } = await funded()
    const intent = intentOf(id)
    fundings.settle(intent.id, { status: 'succeeded' })
    await tell('payment_intent.succeeded', intent)
    const { id: toWalletId } = await aWallet(client)
    await bodyOf(client.transfers.create({ body: { fromWalletId: walletId, toWalletId, amountEuros: 20 } }))
    fundings.takeBack(intent.id, 2_500, 'debit_not_authorized')
    const told = await times(5, () => tellDispute(intent.id))
    expect(told.map(({ status }) => status)).toEqual(Array(5).fill(200))
    expect(await fundingOf(id)).toMatchObject({
      status: 'reversed',
      reversedEuros: 25,
      reason: { code: 'debit_not_authorized' },
    })
    const [reversed] = await service.sql<{ owed: number }>(
      `select (data ->> 'owedEuros')::float as owed from events
       where event = 'funding.reversed' and data ->> 'fundingId' = $1`,
      [id],
    )
    expect([reversed?.owed, await available()]).toEqual([20, 0])
    expect(await bodyOf(client.billing.balance({}))).toMatchObject({ owedEuros: 20 })
    const next = (await bodyOf(fund(30))).funding
    fundings.settle(intentOf(next.id).id, { status: 'succeeded' })
    await tell('payment_intent.succeeded', intentOf(next.id))
    expect(await bodyOf(client.billing.balance({}))).toMatchObject({ owedEuros: 0 })
    expect(await available()).toBe(10)
    await expectVerifiedLedger(client)
  })

  test('in part, and gives back: a chargeback that is won', async () => {
    const { client, funded, fundingOf, available } = await aPayer()
    const { id } = await funded()
    const intent = intentOf(id)
    const dispute = fundings.takeBack(intent.id, 1_000, 'fraudulent')
    await tellDispute(intent.id)
    expect([(await fundingOf(id)).status, await available()]).toEqual(['reversed', 15])
    fundings.giveBack(dispute)
    await times(4, () => tellDispute(intent.id, 'charge.dispute.funds_reinstated'))
    expect([(await fundingOf(id)).status, await available()]).toEqual(['reinstated', 25])
    expect(await eventsOf(id)).toEqual([
      'funding.created',
      'funding.settled',
      'funding.reversed',
      'funding.reinstated',
    ])
    await expectVerifiedLedger(client)
  })

  test('in two parts is taken in full, and an older sum changes nothing', async () => {
    const { client, funded, fundingOf, available } = await aPayer()
    const { id } = await funded()
    const intent = intentOf(id)
    fundings.takeBack(intent.id, 1_000)
    await tellDispute(intent.id)
    const second = fundings.takeBack(intent.id, 1_500)
    await times(4, () => tellDispute(intent.id))
    expect(await fundingOf(id)).toMatchObject({ status: 'reversed', reversedEuros: 25 })
    fundings.giveBack(second)
    await times(4, () => tellDispute(intent.id))
    expect(await fundingOf(id)).toMatchObject({ status: 'reversed', reversedEuros: 25, reinstatedEuros: 15 })
    expect(await available()).toBe(15)
    await expectVerifiedLedger(client)
  })

  test('gives back, and takes again is booked with each sum, once', async () => {
    const { client, funded, fundingOf, available } = await aPayer()
    const { id } = await funded()
    const intent = intentOf(id)
    const dispute = fundings.takeBack(intent.id, 2_500, 'fraudulent')
    const steps: readonly (readonly [moved: number, left: number, status: string])[] = [
      [0, 0, 'reversed'],
      [1_000, 10, 'reversed'],
      [1_500, 25, 'reinstated'],
      [-2_500, 0, 'reversed'],
      [500, 5, 'reversed'],
      [2_000, 25, 'reinstated'],
    ]
    for (const [moved, left, status] of steps) {
      if (moved !== 0) fundings.giveBack(dispute, moved)
      await times(3, () => tellDispute(intent.id, 'charge.dispute.updated'))
      expect([await available(), (await fundingOf(id)).status]).toEqual([left, status])
    }
    expect(await fundingOf(id)).toMatchObject({ reversedEuros: 50, reinstatedEuros: 50 })
    await expectVerifiedLedger(client)
  })

  test('or that is refunded in Stripe’s dashboard leaves the wallet, once', async () => {
    const { client, funded, fundingOf, available } = await aPayer()
    const { id } = await funded()
    const intent = intentOf(id)
    fundings.refund(intent.id, 1_000)
    await times(3, () => tellDispute(intent.id, 'charge.refunded'))
    expect(await fundingOf(id)).toMatchObject({
      status: 'reversed',
      reversedEuros: 10,
      reason: { code: 'refunded' },
    })
    expect(await available()).toBe(15)
    await expectVerifiedLedger(client)
  })

  test('before it was known to have arrived is first credited', async () => {
    const { client, funded, fundingOf, available } = await aPayer(DEBIT)
    const { id } = await funded()
    const intent = intentOf(id)
    fundings.settle(intent.id, { status: 'succeeded' })
    fundings.takeBack(intent.id, 2_500)
    await tellDispute(intent.id)
    expect([(await fundingOf(id)).status, await available()]).toEqual(['reversed', 0])
    expect((await eventsOf(id)).slice(-2)).toEqual(['funding.settled', 'funding.reversed'])
    await expectVerifiedLedger(client)
  })

  test('and gives back after its wallet was closed goes to suspense', async () => {
    const { client, walletId, funded, fundingOf } = await aPayer()
    const { id } = await funded()
    const intent = intentOf(id)
    const dispute = fundings.takeBack(intent.id, 2_500)
    await tellDispute(intent.id)
    await bodyOf(client.wallets.close({ params: { id: walletId } }))
    fundings.giveBack(dispute)
    await tellDispute(intent.id, 'charge.dispute.closed')
    expect((await fundingOf(id)).status).toBe('reinstated')
    expect(await bodyOf(client.billing.balance({}))).toMatchObject({ unassignedEuros: 25 })
    await expectVerifiedLedger(client)
  })

  test('is found without an event, too', async () => {
    const { funded, fundingOf } = await aPayer()
    const { id } = await funded()
    fundings.takeBack(intentOf(id).id, 2_500)
    const asked: string[] = []
    const watch = () =>
      followReturns(service.sql as Context['sql'], {
        systems: { fundingRail: () => rail },
        service: {
          async runFor(_, operation, { params }) {
            asked.push(`${operation} ${params?.id}`)
          },
        },
      })
    await watch()
    expect(asked).toContain(`fund.follow ${id}`)
    await tellDispute(intentOf(id).id)
    expect((await fundingOf(id)).status).toBe('reversed')
    asked.splice(0)
    await watch()
    expect(asked).not.toContain(`fund.follow ${id}`)
  })

  test('is found even if another one cannot be booked', async () => {
    const ids: string[] = []
    for (const _ of [1, 2]) {
      const { funded } = await aPayer()
      const { id } = await funded()
      fundings.takeBack(intentOf(id).id, 2_500)
      ids.push(id)
    }
    const asked: string[] = []
    const watching = followReturns(service.sql as Context['sql'], {
      systems: { fundingRail: () => rail },
      service: {
        async runFor(_, __, { params }) {
          asked.push(String(params?.id))
          throw new Error('not now')
        },
      },
    })
    await expect(watching).rejects.toThrow('not now')
    expect(asked).toEqual(expect.arrayContaining(ids))
  })
})

describe('an event of Stripe', () => {
  test('with another signature is refused, and about another payment is ignored', async () => {
    const { funded } = await aPayer()
    const intent = intentOf((await funded()).id)
    expect((await tell('payment_intent.succeeded', intent, { secret: 'whsec_another1234' })).status).toBe(401)
    const other = { object: 'payment_intent', metadata: { reference: 'challenge_1' } }
    expect((await tell('payment_intent.succeeded', other)).body).toEqual({ taken: false })
    const unknown = { object: 'payment_intent', metadata: { funding_id: 'funding_of_nobody' } }
    expect((await tell('payment_intent.succeeded', unknown)).body).toEqual({ taken: false })
  })

  test('is sent again by Stripe if Stripe cannot be asked about it', async () => {
    stripe.break(/^GET payment_intents\//, refusal(500, { message: 'Not now.' }))
    expect((await tellDispute('pi_funding_1')).status).toBe(503)
  })
})

test('a missing secret is named', async () => {
  const live = await aLiveClient(bare, await bare.owner())
  const answer = await live.billing.setUpPaymentMethod()
  expect(answer).toMatchObject({ status: 503, code: 'not_configured' })
  expect(answer.error).toContain('STRIPE_WEBHOOK_SECRET_EVENTS')
})
