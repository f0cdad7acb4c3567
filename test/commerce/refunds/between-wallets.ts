import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { aRun, aToken, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import {
  anOwner,
  aPaidTransfer,
  ask,
  balanceOf,
  countedOf,
  refundsOf,
  service,
  told,
  transactionOf,
} from './service.ts'

const ofRun = async (client: TestClient, agentId: string) => ({
  runId: (await aRun(client, agentId)).id,
})

describe('a refund of a transfer between wallets', () => {
  test('is back at once, in part and in full, and free again in the limits; the payment stays a use', async () => {
    const { client, ownerId, agent, payee, transactionId } = await aPaidTransfer(7, ofRun)
    const part = await bodyOf(ask(client, transactionId, 3))
    expect(part).toMatchObject({
      ...{ transactionId, agentId: agent.id, walletId: agent.walletId, status: 'completed' },
      ...{ origin: 'asked', way: 'wallet', amountEuros: 3, arrivedEuros: 3, reason: 'requested' },
    })
    expect(await transactionOf(client, transactionId)).toMatchObject({
      status: 'completed',
      refundedEuros: 3,
    })
    const { runId } = await transactionOf(client, transactionId)
    expect(await countedOf([agent.id, String(runId)])).toEqual([
      { reserved: 0, spent: 400, uses: 1 },
      { reserved: 0, spent: 400, uses: 1 },
    ])
    expect(await bodyOf(ask(client, transactionId))).toMatchObject({ amountEuros: 4 })
    expect(await transactionOf(client, transactionId)).toMatchObject({ status: 'refunded', refundedEuros: 7 })
    expect([await balanceOf(client, agent.walletId), await balanceOf(client, payee.id)]).toEqual([10_000, 0])
    expect(await countedOf([agent.id])).toEqual([{ reserved: 0, spent: 0, uses: 1 }])
    const events = await told(ownerId, 'transaction.refunded')
    expect(events.map(({ data }) => [data.transactionId, data.status, data.amountEuros])).toEqual([
      [transactionId, 'completed', 7],
      [transactionId, 'refunded', 7],
    ])
    expect(await told(ownerId, 'refund.completed')).toHaveLength(2)
    expect(await ask(client, transactionId, 1)).toMatchObject({ status: 400, code: 'nothing_to_refund' })
    await expectVerifiedLedger(client)
  })

  test('by a hundred of € 1 at once on € 7, over two processes, is seven', async () => {
    const { client, any, agent, payee, transactionId } = await aPaidTransfer(7)
    const answers = await times(100, n => ask(any(n), transactionId, 1))
    expect(statusCounts(answers)).toEqual({ 201: 7, 400: 93 })
    expect([await balanceOf(client, agent.walletId), await balanceOf(client, payee.id)]).toEqual([10_000, 0])
    expect(await transactionOf(client, transactionId)).toMatchObject({ status: 'refunded', refundedEuros: 7 })
    expect(await refundsOf(client, transactionId)).toHaveLength(7)
    await expectVerifiedLedger(client)
  })

  test('is made once for each Idempotency-Key, however often it is sent', async () => {
    const { client, any, transactionId } = await aPaidTransfer(7)
    const headers = { 'Idempotency-Key': newId('try') }
    const first = await bodyOf(ask(client, transactionId, 2, headers))
    for (const n of [0, 1, 2])
      expect(await bodyOf(ask(any(n), transactionId, 2, headers))).toMatchObject({ id: first.id })
    const other = { 'Idempotency-Key': newId('try') }
    await times(6, n => ask(any(n), transactionId, 1, other))
    expect(await transactionOf(client, transactionId)).toMatchObject({ refundedEuros: 3 })
  })

  test('reports the missing balance of the payee’s wallet, and moves nothing', async () => {
    const { client, payee, transactionId } = await aPaidTransfer(7)
    const other = await aWallet(client)
    const body = { fromWalletId: payee.id, toWalletId: other.id, amountEuros: 5 }
    await bodyOf(client.transfers.create({ body }))
    const answer = await ask(client, transactionId)
    expect(answer).toMatchObject({ status: 400, code: 'insufficient_funds' })
    expect(answer).toMatchObject({ error: '€ 7.00 is needed, but only € 2.00 is available.' })
    expect(await refundsOf(client, transactionId)).toEqual([])
    await bodyOf(client.wallets.update({ params: { id: payee.id }, body: { status: 'frozen' } }))
    expect(await ask(client, transactionId, 1)).toMatchObject({ status: 400, code: 'wallet_frozen' })
  })

  test('goes to the owner if the agent is deleted and its wallet closed', async () => {
    const { client, agent, payee, transactionId } = await aPaidTransfer(7)
    const home = await bodyOf(client.wallets.list({ query: { limit: 100 } }))
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await bodyOf(client.wallets.get({ params: { id: agent.walletId } }))).toMatchObject({
      status: 'closed',
    })
    const refund = await bodyOf(ask(client, transactionId, 3))
    expect(refund.walletId).not.toBe(agent.walletId)
    expect(home.data.map(({ id }) => id)).toContain(refund.walletId)
    expect(await transactionOf(client, transactionId)).toMatchObject({ refundedEuros: 3 })
    expect(await balanceOf(client, payee.id)).toBe(refund.walletId === payee.id ? 7 + 9_993 : 4)
    await expectVerifiedLedger(client)
  })
})

describe('a refund is refused, and nothing changed', () => {
  test('above what was paid, in words', async () => {
    const { client, transactionId } = await aPaidTransfer(7)
    await bodyOf(ask(client, transactionId, 2))
    const answer = await ask(client, transactionId, 5.01)
    expect(answer).toMatchObject({ status: 400, code: 'refund_above_payment' })
    expect(answer).toMatchObject({ error: expect.stringMatching(/€ 5\.00.*€ 7\.00.*€ 2\.00 is refunded/) })
    expect(await refundsOf(client, transactionId)).toHaveLength(1)
  })

  test('for an agent’s token, for the payment of another owner, and for none', async () => {
    const { client, agent, transactionId } = await aPaidTransfer(7)
    const { token } = await aToken(client, agent.id)
    const body = { transactionId, reason: 'other' as const }
    expect(await service.client(String(token)).refunds.create({ body })).toMatchObject({ status: 403 })
    const other = await anOwner()
    for (const id of [transactionId, newId('txn')])
      expect(await ask(other.client, id)).toMatchObject({ status: 404, code: 'transaction_not_found' })
    expect(await refundsOf(client, transactionId)).toEqual([])
  })
})
