import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { cents } from '../../../src/values/money.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { aPayingCard, bookshop } from '../../support/cards/network.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { sweepAtOnce } from '../../support/sweep.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { openWorkerRuntime } from '../../support/worker-runtime.ts'
import {
  anOwner,
  ask,
  balanceOf,
  countedOf,
  network,
  refundsOf,
  service,
  told,
  transactionOf,
} from './service.ts'

const worker = await openWorkerRuntime(service)

async function aCardPayment(euros = 30) {
  const owner = await anOwner()
  const { agent, card } = await aPayingCard(owner.client, 100)
  const { authorizationId } = await network.authorize(card.id, euros)
  await network.clear(card.id, authorizationId, euros)
  const { data } = await bodyOf(owner.client.transactions.list({ query: { cardId: card.id } }))
  return { ...owner, agent, card, authorizationId, transactionId: String(data[0]?.id) }
}

async function anotherPayment(client: TestClient, cardId: string, euros: number) {
  const { authorizationId } = await network.authorize(cardId, euros)
  await network.clear(cardId, authorizationId, euros)
  const { data } = await bodyOf(client.transactions.list({ query: { cardId, limit: 1 } }))
  return { transactionId: String(data[0]?.id) }
}

describe('a refund of a payment by card', () => {
  test('waits for the network’s credit, which completes it; the rest counts by itself', async () => {
    const { client, ownerId, agent, card, authorizationId, transactionId } = await aCardPayment()
    const asked = await bodyOf(ask(client, transactionId, 10))
    expect(asked).toMatchObject({ status: 'pending', way: 'card', arrivedEuros: 0, walletId: null })
    expect(asked.workflowId).toBe(`refund/${asked.id}`)
    expect(await transactionOf(client, transactionId)).toMatchObject({ refundedEuros: 0 })
    await network.refund(card.id, authorizationId, 10)
    expect(await refundsOf(client, transactionId)).toMatchObject([
      {
        id: asked.id,
        status: 'completed',
        arrivedEuros: 10,
        walletId: agent.walletId,
        source: { type: 'card_authorization' },
      },
    ])
    expect(await balanceOf(client, agent.walletId)).toBe(80)
    await network.refund(card.id, authorizationId, 20)
    expect(await refundsOf(client, transactionId)).toMatchObject([
      { id: asked.id },
      { status: 'completed', origin: 'network', amountEuros: 20 },
    ])
    expect(await transactionOf(client, transactionId)).toMatchObject({
      status: 'refunded',
      refundedEuros: 30,
    })
    expect(await countedOf([agent.id, card.id])).toEqual([
      { reserved: 0, spent: 0, uses: 1 },
      { reserved: 0, spent: 0, uses: 1 },
    ])
    const events = await told(ownerId, 'transaction.refunded')
    expect(events.map(({ data }) => data.status)).toEqual(['completed', 'refunded'])
    await expectVerifiedLedger(client)
  })

  test('the processor requests a card refund; an immediate credit is in the answer, once', async () => {
    const { client, any, ownerId, agent, transactionId } = await aCardPayment(95)
    const headers = { 'Idempotency-Key': `push-${transactionId}` }
    const answers = await times(4, n => ask(any(n), transactionId, 93.01, headers))
    const [first] = answers.filter(({ status }) => status === 201)
    expect(first?.body).toMatchObject({ status: 'completed', arrivedEuros: 93.01, walletId: agent.walletId })
    expect(await bodyOf(ask(client, transactionId, 93.01, headers))).toEqual(first?.body)
    expect(await refundsOf(client, transactionId)).toMatchObject([{ status: 'completed', origin: 'asked' }])
    expect(await balanceOf(client, agent.walletId)).toBe(98.01)
    expect(await told(ownerId, 'transaction.refunded')).toMatchObject([{ data: { refundEuros: 93.01 } }])
    await expectVerifiedLedger(client)
  })

  test('that the merchant declines has failed, and leaves the payment to be disputed', async () => {
    const { client, ownerId, transactionId } = await aCardPayment(95)
    const asked = await bodyOf(ask(client, transactionId, 93.02))
    expect(asked).toMatchObject({ status: 'failed', failure: { code: 'declined' }, dueAt: null })
    expect(asked.failure?.message).toContain('POST /disputes')
    expect(await told(ownerId, 'refund.failed')).toHaveLength(1)
    const body = {
      transactionId,
      reason: 'credit_not_processed',
      description: 'Sent back, not credited.',
    } as const
    expect(await bodyOf(client.disputes.create({ body }))).toMatchObject({ amountEuros: 95, status: 'open' })
  })

  test('comes in parts, and what is above the payment is recorded without it', async () => {
    const { client, agent, card, authorizationId, transactionId } = await aCardPayment()
    const { id } = await bodyOf(ask(client, transactionId))
    await network.refund(card.id, authorizationId, 12)
    expect(await refundsOf(client, transactionId)).toMatchObject([
      { id, status: 'pending', arrivedEuros: 12 },
    ])
    await network.refund(card.id, authorizationId, 25)
    expect(await refundsOf(client)).toMatchObject([
      { id, status: 'completed', arrivedEuros: 30 },
      { transactionId: null, status: 'completed', amountEuros: 7, walletId: agent.walletId },
    ])
    expect(await transactionOf(client, transactionId)).toMatchObject({
      status: 'refunded',
      refundedEuros: 30,
    })
    expect(await balanceOf(client, agent.walletId)).toBe(107)
    await expectVerifiedLedger(client)
  })

  test('a credit without a known payment is credited and recorded', async () => {
    const { client, agent, card } = await aCardPayment()
    await network.refund(card.id, null, 9)
    expect(await refundsOf(client)).toMatchObject([
      { transactionId: null, origin: 'network', amountEuros: 9, walletId: agent.walletId, agentId: agent.id },
    ])
    expect(await balanceOf(client, agent.walletId)).toBe(79)
  })

  test('matches a credit without a payment once, to the payment with exactly the requested amount', async () => {
    const { client, agent, card, transactionId } = await aCardPayment()
    const { transactionId: other } = await anotherPayment(client, card.id, 30)
    const { id } = await bodyOf(ask(client, transactionId, 9))
    await bodyOf(ask(client, other, 8))
    await network.refund(card.id, null, 7)
    const refundId = newId('refund')
    const credit = {
      kind: 'refund',
      refundId,
      authorizationId: null,
      amountCents: cents(900n),
      merchant: bookshop,
    } as const
    await Promise.all([network.send(card.id, credit), network.send(card.id, credit)])
    await network.send(card.id, credit)
    expect(await refundsOf(client)).toMatchObject([
      { id, status: 'completed', arrivedEuros: 9, walletId: agent.walletId },
      { status: 'pending', transactionId: other, arrivedEuros: 0 },
      { transactionId: null, amountEuros: 7 },
    ])
    expect(await transactionOf(client, transactionId)).toMatchObject({ refundedEuros: 9 })
    expect(await balanceOf(client, agent.walletId)).toBe(100 - 60 + 16)
    expect(await countedOf([agent.id])).toEqual([{ reserved: 0, spent: 5_100, uses: 2 }])
    await expectVerifiedLedger(client)
  })

  test('that comes before its clearing is of the payment once that is known', async () => {
    const { client } = await anOwner()
    const { agent, card } = await aPayingCard(client, 100)
    const { authorizationId } = await network.authorize(card.id, 20, { descriptor: 'OTHER SHOP' })
    await network.refund(card.id, authorizationId, 25)
    const first = (await refundsOf(client)).map(({ transactionId, amountEuros }) => [
      transactionId !== null,
      amountEuros,
    ])
    expect(first).toEqual([[true, 25]])
    await network.clear(card.id, authorizationId, 20)
    const refunds = await refundsOf(client)
    expect(
      refunds.map(({ transactionId, amountEuros }) => [transactionId !== null, amountEuros]).toSorted(),
    ).toEqual([
      [false, 5],
      [true, 20],
    ])
    const transactionId = String(refunds.find(one => one.transactionId)?.transactionId)
    expect(await transactionOf(client, transactionId)).toMatchObject({ amountEuros: 20, refundedEuros: 20 })
    expect(await balanceOf(client, agent.walletId)).toBe(105)
    await expectVerifiedLedger(client)
  })

  test('goes to the owner where the agent has been deleted', async () => {
    const { client, agent, card, authorizationId, transactionId } = await aCardPayment()
    const { id } = await bodyOf(ask(client, transactionId, 10))
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    await network.refund(card.id, authorizationId, 10)
    const [refund] = await refundsOf(client, transactionId)
    expect(refund).toMatchObject({ id, status: 'completed' })
    expect(refund?.walletId).not.toBe(agent.walletId)
    const query = { limit: 100 }
    const { data } = await bodyOf(client.wallets.list({ query }))
    expect(data.find(({ id: walletId }) => walletId === refund?.walletId)?.status).toBe('active')
    await expectVerifiedLedger(client)
  })

  test('a refund expires after 30 days, with the advice to dispute; later money is booked', async () => {
    const { client, ownerId, card, authorizationId, transactionId } = await aCardPayment()
    const params = { id: (await bodyOf(ask(client, transactionId, 10))).id }
    await bodyOf(client.sandbox.advance({ body: { days: 29 } }))
    await sweepAtOnce(worker)
    expect(await bodyOf(client.refunds.get({ params }))).toMatchObject({ status: 'pending' })
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    await sweepAtOnce(worker)
    const given = await bodyOf(client.refunds.get({ params }))
    expect(given).toMatchObject({ status: 'failed', failure: { code: 'not_credited' }, dueAt: null })
    expect(given.failure?.message).toContain('POST /disputes')
    expect(await told(ownerId, 'refund.failed')).toHaveLength(1)
    await network.refund(card.id, authorizationId, 10)
    expect(await transactionOf(client, transactionId)).toMatchObject({ refundedEuros: 10 })
    expect(await refundsOf(client, transactionId)).toMatchObject([
      { status: 'failed', arrivedEuros: 0 },
      { status: 'completed', origin: 'network', amountEuros: 10 },
    ])
  })

  test('never exceeds the payment under concurrent requests, and is possible again after a cancellation', async () => {
    const { client, any, ownerId, transactionId } = await aCardPayment()
    const answers = await times(20, n => ask(any(n), transactionId, 7))
    expect(statusCounts(answers)).toEqual({ 201: 4, 400: 16 })
    const [first] = await refundsOf(client, transactionId)
    const params = { id: String(first?.id) }
    expect(await bodyOf(client.refunds.cancel({ params }))).toMatchObject({ status: 'cancelled' })
    expect(await client.refunds.cancel({ params })).toMatchObject({ status: 400, code: 'refund_not_pending' })
    expect(await told(ownerId, 'refund.cancelled')).toHaveLength(1)
    expect(await bodyOf(ask(client, transactionId, 7))).toMatchObject({ status: 'pending' })
  })

  test('is refused while the payment is only authorized', async () => {
    const { client } = await anOwner()
    const { card } = await aPayingCard(client, 100)
    await network.authorize(card.id, 20)
    const { data } = await bodyOf(client.transactions.list({ query: { cardId: card.id } }))
    expect(await ask(client, String(data[0]?.id))).toMatchObject({
      ...{ status: 400, code: 'transaction_not_completed' },
    })
  })
})
