import { beforeEach, describe, expect, test } from '@jest/globals'
import { sandboxFunding } from '../../src/adapters/funding-rail/sandbox.ts'
import { days } from '../../src/kernel/clock.ts'
import type { Charge, FundingRail } from '../../src/kernel/funding-rail.ts'
import type { RailCall } from '../../src/kernel/sepa-rail.ts'
import { aLiveClient, anAgentUnder, anIntent, aPaymentMethod, aWallet, made } from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { tally, times } from '../support/pot-house.ts'
import { traceOf, transactionsOf } from '../support/trace.ts'
import { until } from '../support/until.ts'

/** The sandbox's processor, with every charge noted; a test may have it answer otherwise. */
const charges: (Charge & RailCall)[] = []
const sandbox = sandboxFunding()
let charge: FundingRail['charge'] = sandbox.charge
let stateOf: FundingRail['stateOf'] = sandbox.stateOf
const rail: FundingRail = {
  ...sandbox,
  charge(asked, call) {
    charges.push({ ...asked, ...call })
    return charge(asked, call)
  },
  stateOf: (...asked) => stateOf(...asked),
}
const bare = await startHouse()
const rehearsal = await startHouse({ env: { FUNDING_RAIL: 'sandbox' } })
const house = await startHouse({ outside: { fundingRail: () => rail } })
const { client } = await house.owner()
const methodId = (await aPaymentMethod(client)).id

beforeEach(() => {
  charge = sandbox.charge
  stateOf = sandbox.stateOf
  charges.splice(0)
})

interface Extras {
  readonly paymentMethodId?: string | null
  readonly idempotencyKey?: string
}

const fund = (id: string, amountEuros: number, { paymentMethodId = methodId, ...extras }: Extras = {}) =>
  client.fund.wallet({ params: { id }, body: { amountEuros, paymentMethodId }, ...extras })
const walletOf = (id: string) => made(client.wallets.get({ params: { id } }))
const fundingOf = (id: string) => made(client.fund.get({ params: { id } }))
const advance = (body: object) => made(client.sandbox.advance({ body }))
const last = async (walletId: string) => {
  const [funding] = (await made(client.fund.list({ query: { walletId } }))).data
  if (!funding) throw new Error('nothing was begun')
  return funding
}
const postingsOf = async (id: string) =>
  (await made(client.ledger.transfers({ query: { referenceId: id } }))).data.map(({ kind }) => kind)
const eventsOf = async (fundingId: string) =>
  (
    await house.sql<{ event: string }>(
      `select event from events where data ->> 'fundingId' = $1 order by id`,
      [fundingId],
    )
  ).map(({ event }) => event)

/** As if the call had been made that long ago. */
const age = (key: string) =>
  house.sql(`update idempotency_keys set created_at = created_at - interval '3 minutes' where key = $1`, [
    key,
  ])

const provenLedger = async () =>
  expect(await made(client.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })

describe('a wallet is funded', () => {
  test('from a payment method, and the processor hears of it once', async () => {
    const { id } = await aWallet(client)
    const answer = await fund(id, 100)
    expect(answer).toMatchObject({
      status: 200,
      body: { id, availableEuros: 100, funding: { status: 'settled', amountEuros: 100, reason: null } },
    })
    const { funding } = answer.body
    expect(charges).toMatchObject([{ token: 'tok_visa', amountEuros: 10_000n, reference: funding.id }])
    expect(await postingsOf(funding.id)).toEqual(['fund'])
    expect(await transactionsOf(house, answer, 'fundings', funding.id)).toBe(2)
    expect((await traceOf(house, answer))?.events).toEqual([
      'funding.created',
      'funding.settled',
      'wallet.funded',
    ])
    await provenLedger()
  })

  test('by POST /fund just as well', async () => {
    const { id } = await aWallet(client)
    const body = { walletId: id, amountEuros: 12.34, paymentMethodId: methodId }
    expect(await made(client.fund.create({ body }))).toMatchObject({ id, availableEuros: 12.34 })
    const bareBody = { walletId: id, amountEuros: 1 }
    expect(await made(client.fund.create({ body: bareBody }))).toMatchObject({ availableEuros: 13.34 })
    expect(charges).toHaveLength(1)
  })

  test('while it is frozen', async () => {
    const { id } = await aWallet(client)
    await made(client.wallets.update({ params: { id }, body: { status: 'frozen' } }))
    expect(await made(fund(id, 5))).toMatchObject({ status: 'frozen', availableEuros: 5 })
  })

  test('once by one key, however often it is asked', async () => {
    const { id } = await aWallet(client)
    const first = await fund(id, 7, { idempotencyKey: 'replayed' })
    const again = await fund(id, 7, { idempotencyKey: 'replayed' })
    expect([again.status, again.body]).toEqual([200, first.body])
    expect([charges.length, (await walletOf(id)).availableEuros]).toEqual([1, 7])
  })

  test('twenty times by twenty at once, and once by twenty with one key', async () => {
    const { id } = await aWallet(client)
    expect(tally(await times(20, () => fund(id, 1)))).toEqual({ 200: 20 })
    expect((await walletOf(id)).availableEuros).toBe(20)
    const { 200: told = 0, 409: waiting = 0 } = tally(
      await times(20, () => fund(id, 1, { idempotencyKey: 'twenty' })),
    )
    expect([told > 0, told + waiting, (await walletOf(id)).availableEuros]).toEqual([true, 20, 21])
    await provenLedger()
  })
})

describe('an amount that', () => {
  test.each([
    [13.01, 'insufficient_funds', 'not enough money'],
    [13.02, 'expired_card', 'expired'],
  ])('fails (%d) is a 402 with the reason, and nothing is booked', async (amount, code, words) => {
    const { id } = await aWallet(client)
    const answer = await fund(id, amount)
    expect(answer).toMatchObject({ status: 402, code: 'payment_failed' })
    expect(answer.error).toContain(words)
    const funding = await last(id)
    expect(funding).toMatchObject({ status: 'failed', reason: { code } })
    expect(await postingsOf(funding.id)).toEqual([])
    expect(await eventsOf(funding.id)).toEqual(['funding.created', 'funding.failed'])
    expect((await walletOf(id)).availableEuros).toBe(0)
  })

  test('needs a further step waits for it, and is settled by it once', async () => {
    const { id } = await aWallet(client)
    const { funding } = await made(fund(id, 13.03))
    expect(funding).toMatchObject({
      status: 'requires_action',
      nextAction: { type: 'redirect', url: `https://processor.example/authenticate/${funding.id}` },
    })
    const act = () => client.fund.act({ params: { fundingId: funding.id } })
    const answers = await times(5, act)
    expect(tally(answers)).toEqual({ 200: 1, 400: 4 })
    expect(await fundingOf(funding.id)).toMatchObject({ status: 'settled', nextAction: null })
    expect((await walletOf(id)).availableEuros).toBe(13.03)
    expect(await act()).toMatchObject({ status: 400, code: 'no_action_required' })
    await provenLedger()
  })

  test('needs a further step fails where the payer refuses it, or lets the day go by', async () => {
    const { id } = await aWallet(client)
    const { funding } = await made(fund(id, 13.03))
    const refused = client.fund.act({ params: { fundingId: funding.id }, body: { outcome: 'failed' } })
    expect(await made(refused)).toMatchObject({ status: 'failed', reason: { code: 'action_refused' } })
    const { funding: second } = await made(fund(id, 13.03))
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
    const { funding, availableEuros } = await made(fund(id, amount))
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

  test('the processor is silent about is settled when it has been asked', async () => {
    const { id } = await aWallet(client)
    const { funding } = await made(fund(id, 13.06))
    expect(funding.status).toBe('pending')
    await advance({ minutes: 1 })
    expect((await fundingOf(funding.id)).status).toBe('settled')
    expect([charges.length, (await walletOf(id)).availableEuros]).toEqual([1, 13.06])
  })

  test('the processor never hears of is given up after a day', async () => {
    const { id } = await aWallet(client)
    const { funding } = await made(fund(id, 13.07))
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

test('a card that declines does so at any amount', async () => {
  const { id } = await aWallet(client)
  const { id: paymentMethodId } = await aPaymentMethod(client, { token: 'tok_declined' })
  expect(await fund(id, 1, { paymentMethodId })).toMatchObject({ status: 402, code: 'payment_failed' })
})

describe('a crash between the charge and the record', () => {
  test('is told as pending to the next try, and the sweep finds what was drawn', async () => {
    const { id } = await aWallet(client)
    charge = async () => {
      throw new Error('the line is dead')
    }
    expect((await fund(id, 9, { idempotencyKey: 'crashed' })).status).toBe(500)
    expect(await fund(id, 9, { idempotencyKey: 'crashed' })).toMatchObject({ code: 'in_progress' })
    await age('crashed')
    charge = sandbox.charge
    const recovered = await made(fund(id, 9, { idempotencyKey: 'crashed' }))
    expect([recovered.funding.status, recovered.availableEuros]).toEqual(['pending', 0])
    await advance({ minutes: 1 })
    expect((await fundingOf(recovered.funding.id)).status).toBe('settled')
    expect([charges.length, (await walletOf(id)).availableEuros]).toEqual([1, 9])
    await provenLedger()
  })

  test('that nobody comes back to is found by the sweep as well', async () => {
    const { id } = await aWallet(client)
    charge = async () => {
      throw new Error('the line is dead')
    }
    expect((await fund(id, 9)).status).toBe(500)
    expect((await last(id)).status).toBe('pending')
    await advance({ minutes: 1 })
    expect([(await last(id)).status, (await walletOf(id)).availableEuros]).toEqual(['settled', 9])
  })

  test('is not taken for a charge that was never made, however late somebody comes back', async () => {
    const { client: other, ownerId } = await house.owner()
    const [{ id }, { id: paymentMethodId }] = [await aWallet(other), await aPaymentMethod(other)]
    const ask = () =>
      other.fund.wallet({
        params: { id },
        body: { amountEuros: 9, paymentMethodId },
        idempotencyKey: 'late',
      })
    charge = async () => {
      throw new Error('the line is dead')
    }
    expect((await ask()).status).toBe(500)
    await age('late')
    await house.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, days(2)])
    expect((await made(ask())).funding.status).toBe('pending')
    await made(other.sandbox.advance({ body: { seconds: 1 } }))
    expect((await made(other.wallets.get({ params: { id } }))).availableEuros).toBe(9)
  })

  test('of a bare top-up leaves it to the sweep, which puts the money there', async () => {
    const { id } = await aWallet(client)
    const { funding } = await made(fund(id, 3, { paymentMethodId: null }))
    await house.sql(
      `insert into fundings select (jsonb_populate_record(f, jsonb_build_object('id', f.id || '_lost',
         'status', 'pending', 'settled_at', null, 'due_at', f.created_at))).* from fundings f where id = $1`,
      [funding.id],
    )
    await advance({ seconds: 1 })
    expect((await fundingOf(`${funding.id}_lost`)).status).toBe('settled')
    expect((await walletOf(id)).availableEuros).toBe(6)
    await provenLedger()
  })

  test('that was only slowness is credited once, whoever comes first', async () => {
    const { id } = await aWallet(client)
    const slow = Promise.withResolvers<{ status: 'settled' }>()
    charge = () => slow.promise
    const first = fund(id, 9)
    await until('the processor is asked', () => charges.length > 0)
    await advance({ minutes: 1 })
    expect((await walletOf(id)).availableEuros).toBe(9)
    slow.resolve({ status: 'settled' })
    expect((await made(first)).availableEuros).toBe(9)
    const [{ id: fundingId }] = [await last(id)]
    expect(await postingsOf(fundingId)).toEqual(['fund'])
    await provenLedger()
  })

  test('of the processor itself is asked about again', async () => {
    const { id } = await aWallet(client)
    const { funding } = await made(fund(id, 13.06))
    stateOf = async () => ({ status: 'unknown' })
    await advance({ minutes: 1 })
    expect((await fundingOf(funding.id)).status).toBe('pending')
    stateOf = sandbox.stateOf
    await advance({ minutes: 2 })
    expect((await fundingOf(funding.id)).status).toBe('settled')
  })
})

test('what settles after the wallet is closed waits to be assigned', async () => {
  const { id } = await aWallet(client)
  const { funding } = await made(fund(id, 13.04))
  await made(client.wallets.close({ params: { id } }))
  await advance({ days: 2 })
  const settled = await fundingOf(funding.id)
  expect(settled).toMatchObject({ status: 'settled', creditId: expect.stringMatching(/^credit_/) })
  const creditId = String(settled.creditId)
  expect(await postingsOf(creditId)).toEqual(['unmatched_credit'])
  const { id: walletId } = await aWallet(client)
  await made(house.dash.incoming.assign({ params: { id: creditId }, body: { walletId } }))
  expect((await walletOf(walletId)).availableEuros).toBe(13.04)
  await provenLedger()
})

describe('a funding that is drawn back', () => {
  const reverse = (id: string) =>
    house.dash.fund.reverse({ params: { id }, body: { reason: 'The holder disputes it.' } })
  const balanceOf = async (of: typeof client) => made(of.billing.balance({}))
  /** An owner of his own, as what is owed is owed by all of him. */
  async function funded(amountEuros: number) {
    const { client: mine, ownerId } = await house.owner()
    const [{ id: paymentMethodId }, { id }] = [await aPaymentMethod(mine), await aWallet(mine)]
    const pay = (amount: number, walletId = id) =>
      made(mine.fund.wallet({ params: { id: walletId }, body: { amountEuros: amount, paymentMethodId } }))
    return { mine, ownerId, id, pay, funding: (await pay(amountEuros)).funding }
  }

  test('is taken from the wallet, once by whoever comes first', async () => {
    const { mine, id, pay, funding } = await funded(30)
    await pay(20)
    expect(tally(await times(5, () => reverse(funding.id)))).toEqual({ 200: 1, 400: 4 })
    expect(await made(mine.wallets.get({ params: { id } }))).toMatchObject({ availableEuros: 20 })
    expect(await made(mine.fund.get({ params: { id: funding.id } }))).toMatchObject({
      status: 'reversed',
      reversedAt: expect.stringMatching(/^\d{4}-/),
      reason: { code: 'reversed', message: 'The holder disputes it.' },
    })
    expect(await balanceOf(mine)).toMatchObject({ availableEuros: 20, owedEuros: 0 })
    expect((await eventsOf(funding.id)).slice(-1)).toEqual(['funding.reversed'])
    expect(await made(mine.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })
  })

  test('after it was spent is owed, and paid back by what comes in next, before anything else', async () => {
    const { mine, ownerId, id, pay, funding } = await funded(30)
    const { id: other } = await aWallet(mine)
    const body = { fromWalletId: id, toWalletId: other, amountEuros: 25 }
    await made(mine.transfers.create({ body }))
    const answer = await mine.fund.simulateReverse({
      params: { fundingId: funding.id },
      body: { reason: 'No' },
    })
    expect(answer).toMatchObject({ status: 200, body: { status: 'reversed' } })
    expect((await traceOf(house, answer))?.events).toEqual(['funding.reversed', 'wallet.debited'])
    expect(await balanceOf(mine)).toMatchObject({ availableEuros: 25, owedEuros: 25 })

    expect(await pay(10)).toMatchObject({ availableEuros: 0 })
    expect(await balanceOf(mine)).toMatchObject({ availableEuros: 25, owedEuros: 15 })
    const { iban } = await made(mine.wallets.get({ params: { id: other } }))
    const credit = { iban: String(iban), amountEuros: 40, senderName: 'A customer' }
    await made(mine.incoming.simulate({ body: credit }))
    expect(await balanceOf(mine)).toMatchObject({ availableEuros: 50, owedEuros: 0 })
    const told = await house.sql(
      `select (data ->> 'amountEuros')::float as amount, (data ->> 'balanceEuros')::float as balance from events
       where event = 'wallet.debited' and owner_id = $1 order by id`,
      [ownerId],
    )
    expect(told).toEqual([
      { amount: 5, balance: 0 },
      { amount: 10, balance: 0 },
      { amount: 15, balance: 50 },
    ])
    expect(await made(mine.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })
  })

  test('takes nothing that is held for a payment', async () => {
    const { mine, funding } = await funded(30)
    const agent = await anAgentUnder(mine, { autoApproveLimitEuros: 10 })
    const [{ walletId }] = [await made(mine.agents.get({ params: { id: agent.id } }))]
    const { availableEuros: before } = await made(mine.wallets.get({ params: { id: walletId } }))
    const { id: paymentMethodId } = await aPaymentMethod(mine)
    const asked = { params: { id: walletId }, body: { amountEuros: 10, paymentMethodId } }
    const { funding: ofAgent } = await made(mine.fund.wallet(asked))
    await anIntent(mine, agent.id, { amountEuros: 8 })
    expect(await made(reverse(ofAgent.id))).toMatchObject({ status: 'reversed' })
    const wallet = await made(mine.wallets.get({ params: { id: walletId } }))
    const missing = Math.max(0, 10 - (before + 10 - 8))
    expect(wallet).toMatchObject({ heldEuros: 8, availableEuros: before + 2 - 10 + missing })
    expect((await balanceOf(mine)).owedEuros).toBe(missing)
    expect(funding.status).toBe('settled')
  })

  test('of a wallet that is closed is owed as a whole', async () => {
    const { mine, id, funding } = await funded(30)
    const { id: other } = await aWallet(mine)
    const body = { fromWalletId: id, toWalletId: other, amountEuros: 30 }
    await made(mine.transfers.create({ body }))
    await made(mine.wallets.close({ params: { id } }))
    expect(await made(reverse(funding.id))).toMatchObject({ status: 'reversed' })
    expect(await balanceOf(mine)).toMatchObject({ availableEuros: 30, owedEuros: 30 })
    expect(await made(mine.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })
  })

  test('must be there and be settled', async () => {
    const { mine, funding, id } = await funded(30)
    const stranger = (await house.owner()).client
    const simulated = (of: typeof client, fundingId: string) =>
      of.fund.simulateReverse({ params: { fundingId }, body: { reason: 'No' } })
    expect(await simulated(stranger, funding.id)).toMatchObject({ status: 404, code: 'funding_not_found' })
    expect(await reverse('funding_nothing')).toMatchObject({ status: 404, code: 'funding_not_found' })
    const { id: paymentMethodId } = await aPaymentMethod(mine)
    const asked = { params: { id }, body: { amountEuros: 13.04, paymentMethodId } }
    const { funding: pending } = await made(mine.fund.wallet(asked))
    expect(await simulated(mine, pending.id)).toMatchObject({ status: 400, code: 'funding_not_settled' })
  })
})

describe('nothing is begun', () => {
  const refused = async (answer: Promise<{ status: number; code: string | undefined }>) => {
    const before = await house.sql('select count(*) from fundings')
    const { status, code } = await answer
    expect(await house.sql('select count(*) from fundings')).toEqual(before)
    return [status, code]
  }

  test('with another owner’s wallet or payment method', async () => {
    const stranger = await house.owner()
    const theirs = await aPaymentMethod(stranger.client)
    const [mine, other] = [await aWallet(client), await aWallet(stranger.client)]
    expect(await refused(fund(other.id, 1))).toEqual([404, 'wallet_not_found'])
    expect(await refused(fund(mine.id, 1, { paymentMethodId: theirs.id }))).toEqual([
      404,
      'payment_method_not_found',
    ])
  })

  test('with what is closed or removed', async () => {
    const [open, shut, gone] = [await aWallet(client), await aWallet(client), await aPaymentMethod(client)]
    await made(client.wallets.close({ params: { id: shut.id } }))
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
  test('a bare top-up is refused, and without a processor nothing is drawn', async () => {
    const live = await aLiveClient(bare, await bare.owner())
    const { id } = await aWallet(live)
    const answer = await live.fund.create({ body: { walletId: id, amountEuros: 1 } })
    expect(answer).toMatchObject({ status: 503, code: 'live_rail_missing' })
  })

  test('with a processor it is drawn, and nobody takes the payer’s step for him', async () => {
    const live = await aLiveClient(rehearsal, await rehearsal.owner())
    const { id: paymentMethodId } = await aPaymentMethod(live)
    const { id } = await aWallet(live)
    const body = { walletId: id, amountEuros: 13.03, paymentMethodId }
    const { funding } = await made(live.fund.create({ body }))
    expect(funding.status).toBe('requires_action')
    expect(await live.fund.act({ params: { fundingId: funding.id } })).toMatchObject({
      status: 400,
      code: 'test_mode_only',
    })
    expect(await made(live.fund.create({ body: { ...body, amountEuros: 5 } }))).toMatchObject({
      availableEuros: 5,
    })
  })
})
