import { describe, expect, test } from '@jest/globals'
import { answerWith, demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, balanceOf, intentOf, type Payer, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { advance } from '../../support/sandbox.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { AUTHORIZATION, authorize, credentialOf, says, transactionsOf, type Word, words } from './network.ts'
import { countersOf, standingOf } from './payment-state.ts'
import { service } from './service.ts'

const merchant = await startMerchant()
const again = merchant.sells('/again', demand())

/** A payment whose merchant answers like this; the network reports `order` before that, or not yet. */
async function paid(
  order: readonly Word[],
  answer: ReturnType<typeof sell>,
  { priceEuros = 20, speaks = says }: { priceEuros?: number; speaks?: typeof says } = {},
) {
  const payer = await aPayer(service, { amountEuros: priceEuros })
  const [before, counters] = [await standingOf(payer), await countersOf(payer)]
  const path = `/${payer.intent.id}`
  const amount = String(Math.round(priceEuros * 100))
  const url = merchant.sells(path, demand({ amount }), async (visit, response) => {
    await speaks(payer, order)
    answer(visit, response)
  })
  const { status } = await pay(payer, url)
  return { payer, before, counters, status }
}

const unclear = answerWith(500)

/** The balance and the limits are unchanged, and the intent can be paid again. */
async function expectUnpaid(
  { payer, before, counters }: Awaited<ReturnType<typeof paid>>,
  transaction: string,
) {
  expect(await standingOf(payer)).toMatchObject({
    credential: 'void',
    transactions: [[transaction, 0]],
    intent: ['approved', 'cancelled'],
    balance: before.balance,
  })
  expect(await countersOf(payer)).toEqual(counters)
  expect(await credentialOf(payer)).toMatchObject({ outcomeBy: 'network', transactionId: null })
  const [token] = (await bodyOf(payer.client.agentCredentials.list({}))).data
  expect(token).toMatchObject({ status: 'revoked', spentEuros: 0 })
}

const eventsOf = async (payer: Payer) => {
  const rows = await service.sql<{ event: string }>(
    `select event from events where data->>'credentialId' = $1 and event like 'mpp.%' order by id`,
    [(await credentialOf(payer))?.id],
  )
  return rows.map(({ event }) => event.replace('mpp.', ''))
}

describe('an authorization that the network reverses before a clearing', () => {
  const takenBack: readonly (readonly Word[])[] = [
    ['authorization', 'reversal'],
    ['reversal', 'authorization'],
    ['authorization', 'expiry'],
    ['expiry', 'authorization'],
  ]

  test.each(takenBack.flatMap(order => [[order, 'before'] as const, [order, 'after'] as const]))(
    'leaves nothing paid where %j comes %s a bad answer of the merchant',
    async (order, when) => {
      const payment = await paid(when === 'before' ? order : [], unclear)
      if (when === 'after') await says(payment.payer, order)
      await expectUnpaid(payment, 'declined')
      expect(await pay(payment.payer, again)).toMatchObject({ status: 200 })
      expect(await intentOf(payment.payer)).toMatchObject({ status: 'completed' })
    },
  )

  test('emits void after consumed, and the processor deletes the token', async () => {
    const { payer } = await paid([], unclear)
    await says(payer, ['authorization'])
    expect(await credentialOf(payer)).toMatchObject({ status: 'consumed', outcomeBy: 'network' })
    await says(payer, ['reversal', 'expiry'])
    expect(await eventsOf(payer)).toEqual([
      'credential.minted',
      'credential.indeterminate',
      'credential.consumed',
      'transaction.completed',
      'credential.void',
    ])
    expect((await credentialOf(payer))?.dueAt).not.toBeNull()
    await advance(payer.client, { minutes: 1 })
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', dueAt: null })
    const [token] = (await bodyOf(payer.client.agentCredentials.list({}))).data
    expect(token).toMatchObject({ status: 'revoked', processorProblem: null })
    const params = { id: String((await credentialOf(payer))?.id) }
    expect(await payer.client.mpp.resolve({ params, body: { outcome: 'paid' } })).toMatchObject({
      status: 400,
      code: 'credential_over',
    })
  })

  test('leaves nothing paid if it expires without a clearing', async () => {
    const payment = await paid([], unclear)
    await says(payment.payer, ['authorization'])
    await advance(payment.payer.client, { days: 8 })
    expect(await credentialOf(payment.payer)).toMatchObject({ status: 'void', outcomeBy: 'network' })
    expect(await intentOf(payment.payer)).toMatchObject({ payment: { status: 'cancelled' } })
    expect((await balanceOf(payment.payer)).heldEuros).toBeLessThanOrEqual(payment.before.balance.heldEuros)
  })

  test.each(['before', 'after'] as const)(
    'leaves nothing paid where our answer was too late for the network, %s the merchant’s',
    async when => {
      const late = (payer: Payer) => authorize(payer, 91.02)
      const payment = await paid([], unclear, {
        priceEuros: 91.02,
        speaks: async payer => {
          if (when === 'before') await late(payer)
        },
      })
      if (when === 'after') await late(payment.payer)
      await expectUnpaid(payment, 'declined')
    },
  )

  test('stays paid in part where only a part is given back', async () => {
    const { payer } = await paid(['authorization'], unclear)
    const part = { authorizationId: AUTHORIZATION, amountEuros: 5 }
    await bodyOf(payer.client.sandbox.reverseCard({ body: part }))
    expect(await credentialOf(payer)).toMatchObject({ status: 'consumed' })
    await bodyOf(payer.client.sandbox.reverseCard({ body: { ...part, amountEuros: 15 } }))
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', outcomeBy: 'network' })
  })
})

describe('where the merchant has answered 402, an authorization of the network', () => {
  const asksAgain = answerWith(402)

  test.each([
    ['before', 'clearing', 'consumed'],
    ['after', 'clearing', 'consumed'],
    ['before', 'reversal', 'void'],
    ['after', 'reversal', 'void'],
  ] as const)('%s that answer decides nothing: a %s does, by which it is %s', async (when, word, status) => {
    const { payer, ...of } = await paid(when === 'before' ? ['authorization'] : [], asksAgain)
    expect(of.status).toBe(502)
    if (when === 'after') await says(payer, ['authorization'])
    expect(await credentialOf(payer)).toMatchObject({ status: 'indeterminate', outcomeBy: null })
    await says(payer, [word])
    expect(await credentialOf(payer)).toMatchObject({ status, outcomeBy: 'network' })
    expect(await eventsOf(payer)).toEqual([
      'credential.minted',
      'credential.indeterminate',
      ...(status === 'consumed' ? ['credential.consumed', 'transaction.completed'] : ['credential.void']),
    ])
    await expectVerifiedLedger(payer.client)
  })

  test.each(['before', 'after'] as const)(
    'given too late leaves nothing paid, nor ever says so, %s that answer',
    async when => {
      const late = (payer: Payer) => authorize(payer, 91.02)
      const payment = await paid([], asksAgain, {
        priceEuros: 91.02,
        speaks: async payer => {
          if (when === 'before') await late(payer)
        },
      })
      if (when === 'after') await late(payment.payer)
      await expectUnpaid(payment, 'declined')
      expect(await eventsOf(payment.payer)).not.toContain('transaction.completed')
    },
  )

  test('lets the owner say that it is not paid: the money stays held until the network gives it back', async () => {
    const { payer, before } = await paid(['authorization'], asksAgain)
    const params = { id: String((await credentialOf(payer))?.id) }
    await bodyOf(payer.client.mpp.resolve({ params, body: { outcome: 'not_paid' } }))
    expect(await credentialOf(payer)).toMatchObject({
      status: 'void',
      outcomeBy: 'key',
      transactionId: null,
    })
    expect(await balanceOf(payer)).toMatchObject(before.balance)
    expect(await pay(payer, again)).toMatchObject({ code: 'intent_being_paid' })
    await says(payer, ['reversal'])
    expect(await pay(payer, again)).toMatchObject({ status: 200 })
    await expectVerifiedLedger(payer.client)
  })

  test('names no payment where it comes after the end as not paid, until a clearing does', async () => {
    const { payer } = await paid([], asksAgain, { priceEuros: 91.01 })
    const params = { id: String((await credentialOf(payer))?.id) }
    await bodyOf(payer.client.mpp.resolve({ params, body: { outcome: 'not_paid' } }))
    // The processor approves this amount in place of the service, which learns of it afterwards.
    await authorize(payer, 91.01, { authorizationId: AUTHORIZATION })
    expect(await transactionsOf(payer)).toHaveLength(1)
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', transactionId: null })
    await bodyOf(payer.client.sandbox.clearCard({ body: { authorizationId: AUTHORIZATION } }))
    expect(await credentialOf(payer)).toMatchObject({
      status: 'consumed',
      transactionId: (await transactionsOf(payer))[0]?.id,
    })
    await expectVerifiedLedger(payer.client)
  })

  test('lets the deadline end it as not paid, and a later clearing is still booked', async () => {
    const { payer, before } = await paid([], asksAgain)
    await advance(payer.client, { minutes: 10 })
    // A hotel's authorization lasts as long as an unknown outcome, and this one ten minutes longer.
    await authorize(payer, 20, { authorizationId: AUTHORIZATION, mcc: '7011' })
    await advance(payer.client, { days: 30 })
    await advance(payer.client, { minutes: 23 * 60 + 55 })
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', outcomeBy: 'deadline', dueAt: null })
    await says(payer, ['clearing'])
    expect(await standingOf(payer)).toMatchObject({
      credential: 'consumed',
      balance: { heldEuros: 0, availableEuros: before.balance.availableEuros },
    })
    await expectVerifiedLedger(payer.client)
  })
})

describe('a clearing after the network has taken its authorization back', () => {
  const orders: readonly (readonly Word[])[] = [
    ['authorization', 'reversal', 'clearing'],
    ['authorization', 'clearing', 'reversal'],
    ['reversal', 'authorization', 'clearing'],
    ['clearing', 'authorization', 'reversal'],
    ['authorization', 'expiry', 'clearing'],
    ['clearing', 'expiry', 'authorization'],
  ]

  test.each(orders)('is booked once: %s, %s, %s', async (...order) => {
    const { payer, before } = await paid([], unclear)
    await says(payer, order)
    expect(await standingOf(payer)).toMatchObject({
      credential: 'consumed',
      transactions: [['completed', 0]],
      intent: ['completed', 'completed'],
      balance: { heldEuros: 0, availableEuros: before.balance.availableEuros },
    })
    expect((await credentialOf(payer))?.transactionId).toBe((await transactionsOf(payer))[0]?.id)
    await expectVerifiedLedger(payer.client)
  })

  test('is booked beside the payment that has taken the intent in the meantime', async () => {
    const { payer, before } = await paid([], unclear)
    const { id } = (await credentialOf(payer)) ?? {}
    await says(payer, ['authorization', 'reversal'])
    expect(await pay(payer, again)).toMatchObject({ status: 200 })
    await words.clearing(payer)
    expect(await bodyOf(payer.client.mpp.get({ params: { id: String(id) } }))).toMatchObject({
      status: 'consumed',
      outcomeBy: 'network',
    })
    const { heldEuros, availableEuros } = await balanceOf(payer)
    expect([heldEuros, availableEuros]).toEqual([0, before.balance.availableEuros - 20])
    await expectVerifiedLedger(payer.client)
  })
})

describe('a payment that the merchant or the owner has called paid', () => {
  test.each([
    ['authorization', 'reversal'],
    ['authorization', 'expiry'],
  ] as const)('stays paid after %s and %s, and its money comes back once', async (...order) => {
    const { payer, before, status } = await paid([], sell())
    expect(status).toBe(200)
    await says(payer, order)
    const { availableEuros, heldEuros } = before.balance
    expect(await standingOf(payer)).toMatchObject({
      credential: 'consumed',
      transactions: [['refunded', 20]],
      intent: ['completed', 'returned'],
      balance: { heldEuros: 0, availableEuros: availableEuros + heldEuros },
    })
    await expectVerifiedLedger(payer.client)
  })

  test('a payment with a receipt stays paid if the network reports a late answer', async () => {
    const { payer } = await paid([], sell(), { priceEuros: 91.02, speaks: async () => undefined })
    await authorize(payer, 91.02)
    expect(await standingOf(payer)).toMatchObject({
      credential: 'consumed',
      transactions: [['completed', 0]],
    })
  })

  test('a payment is returned if the receipt comes after the reversal, and its intent can be paid again', async () => {
    const { payer, status } = await paid(['authorization', 'reversal'], sell())
    expect(status).toBe(200)
    expect(await standingOf(payer)).toMatchObject({
      credential: 'consumed',
      transactions: [],
      intent: ['approved', 'returned'],
    })
    const id = String((await credentialOf(payer))?.transactionId)
    expect(await bodyOf(payer.client.transactions.get({ params: { id } }))).toMatchObject({
      ...{ status: 'refunded', refundedEuros: 20, intentId: null },
    })
    expect(await pay(payer, again)).toMatchObject({ status: 200 })
    await expectVerifiedLedger(payer.client)
  })

  test('by its owner stays paid after a reversal', async () => {
    const { payer } = await paid([], unclear)
    const params = { id: String((await credentialOf(payer))?.id) }
    await bodyOf(payer.client.mpp.resolve({ params, body: { outcome: 'paid' } }))
    await says(payer, ['authorization', 'reversal'])
    expect(await standingOf(payer)).toMatchObject({
      credential: 'consumed',
      transactions: [['refunded', 20]],
      intent: ['completed', 'returned'],
    })
  })
})
