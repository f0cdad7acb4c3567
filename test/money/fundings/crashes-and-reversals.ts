import { describe, expect, test } from '@jest/globals'
import { days } from '../../../src/values/clock.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { anAgentUnder, anIntent, aPaymentMethod, aWallet, bodyOf } from '../../support/factories.ts'
import { startFundingService } from '../../support/money/funding.ts'
import { traceOf } from '../../support/trace.ts'
import { until } from '../../support/until.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const {
  service,
  client,
  charges,
  sandbox,
  answers,
  eventsOf,
  postingsOf,
  latestFunding,
  provenLedger,
  walletOf,
  fundingOf,
  advance,
  makeOld,
  fund,
} = await startFundingService()

describe('a crash between the charge and the record', () => {
  test('is answered as pending on the retry, and the sweep finds the charge', async () => {
    const { id } = await aWallet(client)
    answers.charge = async () => {
      throw new Error('the line is dead')
    }
    expect((await fund(id, 9, { idempotencyKey: 'crashed' })).status).toBe(500)
    expect(await fund(id, 9, { idempotencyKey: 'crashed' })).toMatchObject({ code: 'in_progress' })
    await makeOld('crashed')
    answers.charge = sandbox.charge
    const recovered = await bodyOf(fund(id, 9, { idempotencyKey: 'crashed' }))
    expect([recovered.funding.status, recovered.availableEuros]).toEqual(['pending', 0])
    await advance({ minutes: 1 })
    expect((await fundingOf(recovered.funding.id)).status).toBe('settled')
    expect([charges.length, (await walletOf(id)).availableEuros]).toEqual([1, 9])
    await provenLedger()
  })

  test('without a retry is found by the sweep, too', async () => {
    const { id } = await aWallet(client)
    answers.charge = async () => {
      throw new Error('the line is dead')
    }
    expect((await fund(id, 9)).status).toBe(500)
    expect((await latestFunding(id)).status).toBe('pending')
    await advance({ minutes: 1 })
    expect([(await latestFunding(id)).status, (await walletOf(id)).availableEuros]).toEqual(['settled', 9])
  })

  test('is never taken for a missing charge, however late the retry', async () => {
    const { client: other, ownerId } = await service.owner()
    const [{ id }, { id: paymentMethodId }] = [await aWallet(other), await aPaymentMethod(other)]
    const ask = () =>
      other.fund.wallet({
        params: { id },
        body: { amountEuros: 9, paymentMethodId },
        idempotencyKey: 'late',
      })
    answers.charge = async () => {
      throw new Error('the line is dead')
    }
    expect((await ask()).status).toBe(500)
    await makeOld('late')
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, days(2)])
    expect((await bodyOf(ask())).funding.status).toBe('pending')
    await bodyOf(other.sandbox.advance({ body: { seconds: 1 } }))
    expect((await bodyOf(other.wallets.get({ params: { id } }))).availableEuros).toBe(9)
  })

  test('of a top-up without a payment method is completed by the sweep', async () => {
    const { id } = await aWallet(client)
    const { funding } = await bodyOf(fund(id, 3, { paymentMethodId: null }))
    await service.sql(
      `insert into fundings select (jsonb_populate_record(f, jsonb_build_object('id', f.id || '_lost',
         'status', 'pending', 'settled_at', null, 'due_at', f.created_at))).* from fundings f where id = $1`,
      [funding.id],
    )
    await advance({ seconds: 1 })
    expect((await fundingOf(`${funding.id}_lost`)).status).toBe('settled')
    expect((await walletOf(id)).availableEuros).toBe(6)
    await provenLedger()
  })

  test('that was only slowness credits once, in any order', async () => {
    const { id } = await aWallet(client)
    const slow = Promise.withResolvers<{ status: 'settled' }>()
    answers.charge = () => slow.promise
    const first = fund(id, 9)
    await until('the processor is asked', () => charges.length > 0)
    await advance({ minutes: 1 })
    expect((await walletOf(id)).availableEuros).toBe(9)
    slow.resolve({ status: 'settled' })
    expect((await bodyOf(first)).availableEuros).toBe(9)
    const [{ id: fundingId }] = [await latestFunding(id)]
    expect(await postingsOf(fundingId)).toEqual(['fund'])
    await provenLedger()
  })

  test('of the processor makes the sweep ask again', async () => {
    const { id } = await aWallet(client)
    const { funding } = await bodyOf(fund(id, 13.06))
    answers.stateOf = async () => ({ status: 'unknown' })
    await advance({ minutes: 1 })
    expect((await fundingOf(funding.id)).status).toBe('pending')
    answers.stateOf = sandbox.stateOf
    await advance({ minutes: 2 })
    expect((await fundingOf(funding.id)).status).toBe('settled')
  })
})

test('a funding that settles after its wallet is closed goes to suspense', async () => {
  const { id } = await aWallet(client)
  const { funding } = await bodyOf(fund(id, 13.04))
  await bodyOf(client.wallets.close({ params: { id } }))
  await advance({ days: 2 })
  const settled = await fundingOf(funding.id)
  expect(settled).toMatchObject({ status: 'settled', creditId: expect.stringMatching(/^credit_/) })
  const creditId = String(settled.creditId)
  expect(await postingsOf(creditId)).toEqual(['unmatched_credit'])
  const { id: walletId } = await aWallet(client)
  await bodyOf(service.dash.incoming.assign({ params: { id: creditId }, body: { walletId } }))
  expect((await walletOf(walletId)).availableEuros).toBe(13.04)
  await provenLedger()
})

describe('a funding that is drawn back', () => {
  const reverse = (id: string) =>
    service.dash.fund.reverse({ params: { id }, body: { reason: 'The holder disputes it.' } })
  const balanceOf = async (of: typeof client) => bodyOf(of.billing.balance({}))
  /** A new owner with one funding: a debt is the owner's, so tests must not share owners. */
  async function funded(amountEuros: number) {
    const { client: mine, ownerId } = await service.owner()
    const [{ id: paymentMethodId }, { id }] = [await aPaymentMethod(mine), await aWallet(mine)]
    const pay = (amount: number, walletId = id) =>
      bodyOf(mine.fund.wallet({ params: { id: walletId }, body: { amountEuros: amount, paymentMethodId } }))
    return { mine, ownerId, id, pay, funding: (await pay(amountEuros)).funding }
  }

  test('is debited once by concurrent requests', async () => {
    const { mine, id, pay, funding } = await funded(30)
    await pay(20)
    expect(statusCounts(await times(5, () => reverse(funding.id)))).toEqual({ 200: 1, 400: 4 })
    expect(await bodyOf(mine.wallets.get({ params: { id } }))).toMatchObject({ availableEuros: 20 })
    expect(await bodyOf(mine.fund.get({ params: { id: funding.id } }))).toMatchObject({
      status: 'reversed',
      reversedAt: expect.stringMatching(/^\d{4}-/),
      reason: { code: 'reversed', message: 'The holder disputes it.' },
    })
    expect(await balanceOf(mine)).toMatchObject({ availableEuros: 20, owedEuros: 0 })
    expect((await eventsOf(funding.id)).slice(-1)).toEqual(['funding.reversed'])
    await expectVerifiedLedger(mine)
  })

  test('after the money was spent is owed, and repaid by the next money that comes in', async () => {
    const { mine, ownerId, id, pay, funding } = await funded(30)
    const { id: other } = await aWallet(mine)
    const body = { fromWalletId: id, toWalletId: other, amountEuros: 25 }
    await bodyOf(mine.transfers.create({ body }))
    const answer = await mine.fund.simulateReverse({
      params: { fundingId: funding.id },
      body: { reason: 'No' },
    })
    expect(answer).toMatchObject({ status: 200, body: { status: 'reversed' } })
    expect((await traceOf(service, answer))?.events).toEqual(['funding.reversed', 'wallet.debited'])
    expect(await balanceOf(mine)).toMatchObject({ availableEuros: 25, owedEuros: 25 })

    expect(await pay(10)).toMatchObject({ availableEuros: 0 })
    expect(await balanceOf(mine)).toMatchObject({ availableEuros: 25, owedEuros: 15 })
    const { iban } = await bodyOf(mine.wallets.get({ params: { id: other } }))
    const credit = { iban: String(iban), amountEuros: 40, senderName: 'A customer' }
    await bodyOf(mine.incoming.simulate({ body: credit }))
    expect(await balanceOf(mine)).toMatchObject({ availableEuros: 50, owedEuros: 0 })
    const debits = await service.sql(
      `select (data ->> 'amountEuros')::float as amount, (data ->> 'balanceEuros')::float as balance from events
       where event = 'wallet.debited' and owner_id = $1 order by id`,
      [ownerId],
    )
    expect(debits).toEqual([
      { amount: 5, balance: 0 },
      { amount: 10, balance: 0 },
      { amount: 15, balance: 50 },
    ])
    await expectVerifiedLedger(mine)
  })

  test('leaves what is held for payments', async () => {
    const { mine, funding } = await funded(30)
    const agent = await anAgentUnder(mine, { autoApproveLimitEuros: 10 })
    const [{ walletId }] = [await bodyOf(mine.agents.get({ params: { id: agent.id } }))]
    const { availableEuros: before } = await bodyOf(mine.wallets.get({ params: { id: walletId } }))
    const { id: paymentMethodId } = await aPaymentMethod(mine)
    const request = { params: { id: walletId }, body: { amountEuros: 10, paymentMethodId } }
    const { funding: ofAgent } = await bodyOf(mine.fund.wallet(request))
    await anIntent(mine, agent.id, { amountEuros: 8 })
    expect(await bodyOf(reverse(ofAgent.id))).toMatchObject({ status: 'reversed' })
    const wallet = await bodyOf(mine.wallets.get({ params: { id: walletId } }))
    const missing = Math.max(0, 10 - (before + 10 - 8))
    expect(wallet).toMatchObject({ heldEuros: 8, availableEuros: before + 2 - 10 + missing })
    expect((await balanceOf(mine)).owedEuros).toBe(missing)
    expect(funding.status).toBe('settled')
  })

  test('from a closed wallet is owed as a whole', async () => {
    const { mine, id, funding } = await funded(30)
    const { id: other } = await aWallet(mine)
    const body = { fromWalletId: id, toWalletId: other, amountEuros: 30 }
    await bodyOf(mine.transfers.create({ body }))
    await bodyOf(mine.wallets.close({ params: { id } }))
    expect(await bodyOf(reverse(funding.id))).toMatchObject({ status: 'reversed' })
    expect(await balanceOf(mine)).toMatchObject({ availableEuros: 30, owedEuros: 30 })
    await expectVerifiedLedger(mine)
  })

  test('must exist and be settled', async () => {
    const { mine, funding, id } = await funded(30)
    const stranger = (await service.owner()).client
    const simulated = (of: typeof client, fundingId: string) =>
      of.fund.simulateReverse({ params: { fundingId }, body: { reason: 'No' } })
    expect(await simulated(stranger, funding.id)).toMatchObject({ status: 404, code: 'funding_not_found' })
    expect(await reverse('funding_nothing')).toMatchObject({ status: 404, code: 'funding_not_found' })
    const { id: paymentMethodId } = await aPaymentMethod(mine)
    const request = { params: { id }, body: { amountEuros: 13.04, paymentMethodId } }
    const { funding: pending } = await bodyOf(mine.fund.wallet(request))
    expect(await simulated(mine, pending.id)).toMatchObject({ status: 400, code: 'funding_not_settled' })
  })
})
