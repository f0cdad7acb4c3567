import './fundings/by-stripe.ts'
import './fundings/crashes-and-reversals.ts'
import './fundings/first-money.ts'
import './fundings/killed.ts'
import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../support/at-once.ts'
import { aLiveClient, aPaymentMethod, aWallet, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { startFundingService } from '../support/money/funding.ts'
import { traceOf, transactionCount } from '../support/trace.ts'

const bare = await startTestService()
const rehearsal = await startTestService({ env: { FUNDING_RAIL: 'sandbox' } })
const {
  service,
  client,
  methodId,
  charges,
  advance,
  fundingOf,
  eventsOf,
  latestFunding,
  walletOf,
  provenLedger,
  postingsOf,
  fund,
} = await startFundingService()

describe('a wallet is funded', () => {
  test('from a payment method, with one charge at the processor', async () => {
    const { id } = await aWallet(client)
    const answer = await fund(id, 100)
    expect(answer).toMatchObject({
      status: 200,
      body: { id, availableEuros: 100, funding: { status: 'settled', amountEuros: 100, reason: null } },
    })
    const { funding } = answer.body
    expect(charges).toMatchObject([{ token: 'tok_visa', amountCents: 10_000n, reference: funding.id }])
    expect(await postingsOf(funding.id)).toEqual(['fund'])
    expect(await transactionCount(service, answer, 'fundings', funding.id)).toBe(2)
    expect((await traceOf(service, answer))?.events).toEqual([
      'funding.created',
      'funding.settled',
      'wallet.funded',
    ])
    await provenLedger()
  })

  test('with POST /fund, too', async () => {
    const { id } = await aWallet(client)
    const body = { walletId: id, amountEuros: 12.34, paymentMethodId: methodId }
    expect(await bodyOf(client.fund.create({ body }))).toMatchObject({ id, availableEuros: 12.34 })
    const bareBody = { walletId: id, amountEuros: 1 }
    expect(await bodyOf(client.fund.create({ body: bareBody }))).toMatchObject({ availableEuros: 13.34 })
    expect(charges).toHaveLength(1)
  })

  test('while it is frozen', async () => {
    const { id } = await aWallet(client)
    await bodyOf(client.wallets.update({ params: { id }, body: { status: 'frozen' } }))
    expect(await bodyOf(fund(id, 5))).toMatchObject({ status: 'frozen', availableEuros: 5 })
  })

  test('once for each idempotency key', async () => {
    const { id } = await aWallet(client)
    const first = await fund(id, 7, { idempotencyKey: 'replayed' })
    const again = await fund(id, 7, { idempotencyKey: 'replayed' })
    expect([again.status, again.body]).toEqual([200, first.body])
    expect([charges.length, (await walletOf(id)).availableEuros]).toEqual([1, 7])
  })

  test('twenty times by twenty concurrent requests, and once if they share a key', async () => {
    const { id } = await aWallet(client)
    expect(statusCounts(await times(20, () => fund(id, 1)))).toEqual({ 200: 20 })
    expect((await walletOf(id)).availableEuros).toBe(20)
    const { 200: answered = 0, 409: waiting = 0 } = statusCounts(
      await times(20, () => fund(id, 1, { idempotencyKey: 'twenty' })),
    )
    expect([answered > 0, answered + waiting, (await walletOf(id)).availableEuros]).toEqual([true, 20, 21])
    await provenLedger()
  })
})

describe('a funding that', () => {
  test.each([
    [13.01, 'insufficient_funds', 'insufficient funds'],
    [13.02, 'expired_card', 'expired'],
  ])('fails (%d) is a 402 with the reason, and nothing is booked', async (amount, code, message) => {
    const { id } = await aWallet(client)
    const answer = await fund(id, amount)
    expect(answer).toMatchObject({ status: 402, code: 'payment_failed' })
    expect(answer.error).toContain(message)
    const funding = await latestFunding(id)
    expect(funding).toMatchObject({ status: 'failed', reason: { code } })
    expect(await postingsOf(funding.id)).toEqual([])
    expect(await eventsOf(funding.id)).toEqual(['funding.created', 'funding.failed'])
    expect((await walletOf(id)).availableEuros).toBe(0)
  })

  test('needs a further step waits for it, and settles once', async () => {
    const { id } = await aWallet(client)
    const { funding } = await bodyOf(fund(id, 13.03))
    expect(funding).toMatchObject({
      status: 'requires_action',
      nextAction: { type: 'redirect', url: `https://processor.example/authenticate/${funding.id}` },
    })
    const act = () => client.fund.act({ params: { fundingId: funding.id } })
    const answers = await times(5, act)
    expect(statusCounts(answers)).toEqual({ 200: 1, 400: 4 })
    expect(await fundingOf(funding.id)).toMatchObject({ status: 'settled', nextAction: null })
    expect((await walletOf(id)).availableEuros).toBe(13.03)
    expect(await act()).toMatchObject({ status: 400, code: 'no_action_required' })
    await provenLedger()
  })

  test('needs a further step fails if the payer refuses it or does not take it within a day', async () => {
    const { id } = await aWallet(client)
    const { funding } = await bodyOf(fund(id, 13.03))
    const refused = client.fund.act({ params: { fundingId: funding.id }, body: { outcome: 'failed' } })
    expect(await bodyOf(refused)).toMatchObject({ status: 'failed', reason: { code: 'action_refused' } })
    const { funding: second } = await bodyOf(fund(id, 13.03))
    await advance({ days: 1 })
    expect(await fundingOf(second.id)).toMatchObject({
      status: 'failed',
      reason: { code: 'action_not_completed' },
    })
    expect((await walletOf(id)).availableEuros).toBe(0)
  })

  test.each([
    [13.04, 'settled', 13.04],
    [13.05, 'failed', 0],
  ])('is decided late (%d) is pending for two days, and then %s', async (amount, status, balance) => {
    const { id } = await aWallet(client)
    const { funding, availableEuros } = await bodyOf(fund(id, amount))
    expect([funding.status, availableEuros]).toEqual(['pending', 0])
    await advance({ days: 1 })
    expect((await fundingOf(funding.id)).status).toBe('pending')
    await advance({ days: 1 })
    expect((await fundingOf(funding.id)).status).toBe(status)
    expect((await walletOf(id)).availableEuros).toBe(balance)
    await advance({ days: 3 })
    expect((await walletOf(id)).availableEuros).toBe(balance)
    await provenLedger()
  })

  test('gets no answer settles once the processor reports the charge', async () => {
    const { id } = await aWallet(client)
    const { funding } = await bodyOf(fund(id, 13.06))
    expect(funding.status).toBe('pending')
    await advance({ minutes: 1 })
    expect((await fundingOf(funding.id)).status).toBe('settled')
    expect([charges.length, (await walletOf(id)).availableEuros]).toEqual([1, 13.06])
  })

  test('the processor does not know fails after a day', async () => {
    const { id } = await aWallet(client)
    const { funding } = await bodyOf(fund(id, 13.07))
    await advance({ minutes: 600 })
    expect((await fundingOf(funding.id)).status).toBe('pending')
    await advance({ days: 2 })
    expect(await fundingOf(funding.id)).toMatchObject({
      status: 'failed',
      reason: { code: 'never_arrived' },
    })
    expect(await eventsOf(funding.id)).toEqual(['funding.created', 'funding.failed'])
  })
})

test('a declining card declines any amount', async () => {
  const { id } = await aWallet(client)
  const { id: paymentMethodId } = await aPaymentMethod(client, { token: 'tok_declined' })
  expect(await fund(id, 1, { paymentMethodId })).toMatchObject({ status: 402, code: 'payment_failed' })
})

describe('a funding is refused', () => {
  const refused = async (answer: Promise<{ status: number; code: string | undefined }>) => {
    const before = await service.sql('select count(*) from fundings')
    const { status, code } = await answer
    expect(await service.sql('select count(*) from fundings')).toEqual(before)
    return [status, code]
  }

  test('with another owner’s wallet or payment method', async () => {
    const stranger = await service.owner()
    const theirs = await aPaymentMethod(stranger.client)
    const [mine, other] = [await aWallet(client), await aWallet(stranger.client)]
    expect(await refused(fund(other.id, 1))).toEqual([404, 'wallet_not_found'])
    expect(await refused(fund(mine.id, 1, { paymentMethodId: theirs.id }))).toEqual([
      404,
      'payment_method_not_found',
    ])
  })

  test('with a closed wallet or a removed payment method', async () => {
    const [open, shut, gone] = [await aWallet(client), await aWallet(client), await aPaymentMethod(client)]
    await bodyOf(client.wallets.close({ params: { id: shut.id } }))
    await client.billing.removePaymentMethod({ params: { id: gone.id } })
    expect(await refused(fund(shut.id, 1))).toEqual([400, 'wallet_closed'])
    expect(await refused(fund(open.id, 1, { paymentMethodId: gone.id }))).toEqual([
      404,
      'payment_method_not_found',
    ])
  })

  test.each([0, -1, 0.001, 100_000.01])('of %d euros', async amountEuros => {
    const { id } = await aWallet(client)
    expect(await refused(fund(id, amountEuros))).toEqual([400, 'invalid_request'])
  })
})

describe('in live mode', () => {
  test('a top-up without a payment method is refused, and so is one without a processor', async () => {
    const live = await aLiveClient(bare, await bare.owner())
    const { id } = await aWallet(live)
    const answer = await live.fund.create({ body: { walletId: id, amountEuros: 1 } })
    expect(answer).toMatchObject({ status: 503, code: 'live_rail_missing' })
  })

  test('a processor charges, and the payer’s step cannot be simulated', async () => {
    const live = await aLiveClient(rehearsal, await rehearsal.owner())
    const { id: paymentMethodId } = await aPaymentMethod(live)
    const { id } = await aWallet(live)
    const body = { walletId: id, amountEuros: 13.03, paymentMethodId }
    const { funding } = await bodyOf(live.fund.create({ body }))
    expect(funding.status).toBe('requires_action')
    expect(await live.fund.act({ params: { fundingId: funding.id } })).toMatchObject({
      status: 400,
      code: 'test_mode_only',
    })
    expect(await bodyOf(live.fund.create({ body: { ...body, amountEuros: 5 } }))).toMatchObject({
      availableEuros: 5,
    })
  })
})
