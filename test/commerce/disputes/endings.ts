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
