import { describe, expect, test } from '@jest/globals'
import {
  aDispute,
  aPaidCard,
  daysLater,
  getDispute,
  ledgerBalance,
  networkSays,
} from '../../support/commerce/disputes.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()

describe('the credit of a dispute', () => {
  const countedOf = (subjects: readonly string[]) =>
    service.sql<{ spent: number; uses: number }>(
      `select spent_cents::int as spent, uses from counters
       where subject = any($1) and period = 'all' order by array_position($1, subject)`,
      [subjects],
    )

  test('is free again in the limits in which it was counted, for as long as the owner keeps it', async () => {
    const { client, agent, card, transactionId, authorizationId } = await aPaidCard(service, 60)
    const counted = async (cents: number) =>
      expect(await countedOf([agent.id, card.id])).toEqual([
        { spent: cents, uses: 1 },
        { spent: cents, uses: 1 },
      ])
    const { id } = await aDispute(client, transactionId, { amountEuros: 40 })
    await networkSays(client, id, 'credited')
    await counted(6_000)
    await networkSays(client, id, 'won')
    await counted(2_000)
    await bodyOf(client.sandbox.refundCard({ body: { authorizationId, amountEuros: 10 } }))
    expect(await getDispute(client, id)).toMatchObject({ creditedEuros: 30 })
    await counted(2_000)
    await networkSays(client, id, 'lost')
    await counted(5_000)
    await networkSays(client, id, 'won')
    await counted(2_000)
  })

  test('and the platform has lost is free again, too; withdrawn, it is spent', async () => {
    const { client, agent, transactionId } = await aPaidCard(service, 60)
    const first = await aDispute(client, transactionId, { reason: 'fraud', amountEuros: 20 })
    await bodyOf(client.disputes.withdraw({ params: { id: first.id } }))
    expect(await countedOf([agent.id])).toEqual([{ spent: 6_000, uses: 1 }])
    const { id } = await aDispute(client, transactionId, { reason: 'fraud', amountEuros: 50 })
    expect(await countedOf([agent.id])).toEqual([{ spent: 6_000, uses: 1 }])
    await networkSays(client, id, 'lost')
    expect(await getDispute(client, id)).toMatchObject({ status: 'lost', creditedEuros: 50 })
    expect(await countedOf([agent.id])).toEqual([{ spent: 1_000, uses: 1 }])
  })
})

describe('an owner without an open wallet', () => {
  test('an owner without a wallet is credited in suspense, and the reversal is taken from it', async () => {
    const { client, agent, transactionId } = await aPaidCard(service, 300)
    const { id } = await aDispute(client, transactionId)
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    await daysLater(client, 1)
    const { data } = await bodyOf(client.wallets.list({ query: { limit: 100 } }))
    for (const wallet of data.filter(({ status }) => status === 'active'))
      await bodyOf(client.wallets.close({ params: { id: wallet.id } }))
    await networkSays(client, id, 'won')
    expect(await getDispute(client, id)).toMatchObject({ status: 'won', creditedEuros: 300 })
    expect(await ledgerBalance(client, 'suspense')).toBe(300)
    await networkSays(client, id, 'lost')
    expect(await ledgerBalance(client, 'suspense')).toBe(0)
    expect(await ledgerBalance(client, 'disputes')).toBe(0)
    await expectVerifiedLedger(client)
  })
})

describe('an agent that is deleted while its payment is disputed', () => {
  test('leaves what is given back to the owner', async () => {
    const { client, agent, transactionId } = await aPaidCard(service, 40)
    const { id: main } = await aWallet(client)
    const { id } = await aDispute(client, transactionId)
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    await daysLater(client, 1)
    expect(await bodyOf(client.agents.get({ params: { id: agent.id } }))).toMatchObject({ status: 'deleted' })
    const before = await bodyOf(client.wallets.get({ params: { id: main } }))
    await networkSays(client, id, 'won')
    expect(await getDispute(client, id)).toMatchObject({ status: 'won', creditedEuros: 40 })
    const after = await bodyOf(client.wallets.get({ params: { id: main } }))
    expect(after.availableEuros - before.availableEuros).toBe(40)
    await networkSays(client, id, 'lost')
    expect(await bodyOf(client.wallets.get({ params: { id: main } }))).toMatchObject({
      availableEuros: before.availableEuros,
    })
    expect(await ledgerBalance(client, 'disputes')).toBe(0)
    await expectVerifiedLedger(client)
  })
})
