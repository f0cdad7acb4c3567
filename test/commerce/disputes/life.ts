import { describe, expect, test } from '@jest/globals'
import { balanceOf } from '../../support/cards/simulated.ts'
import {
  aDispute,
  aPaidCard,
  daysLater,
  getDispute,
  ledgerBalance,
  networkSays,
} from '../../support/commerce/disputes.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()

describe('a payment that was not authorized', () => {
  test('is given back at once in test mode, and stays with the owner whatever the network decides', async () => {
    const { client, agent, transactionId } = await aPaidCard(service, 50)
    const opened = await aDispute(client, transactionId, { reason: 'unauthorized' })
    expect(opened).toMatchObject({ status: 'open', amountEuros: 50, creditedEuros: 50, creditDueAt: null })
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    expect(await ledgerBalance(client, 'disputes')).toBe(50)
    await expectVerifiedLedger(client)
    await bodyOf(client.disputes.submit({ params: { id: opened.id } }))
    await networkSays(client, opened.id, 'lost')
    expect(await getDispute(client, opened.id)).toMatchObject({ status: 'lost', creditedEuros: 50 })
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    expect(await ledgerBalance(client, 'disputes')).toBe(0)
    expect(await ledgerBalance(client, 'losses')).toBe(50)
    await expectVerifiedLedger(client)
  })
})

describe('what was never received', () => {
  test('is submitted, asked for daily, and won by its amount', async () => {
    const { client, agent, transactionId } = await aPaidCard(service, 92.01)
    const { id } = await aDispute(client, transactionId)
    expect(await balanceOf(client, agent.id)).toEqual([207.99, 0])
    await bodyOf(client.disputes.submit({ params: { id } }))
    await daysLater(client, 3)
    expect(await getDispute(client, id)).toMatchObject({ status: 'won', creditedEuros: 92.01 })
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    expect(await ledgerBalance(client, 'disputes')).toBe(0)
    await expectVerifiedLedger(client)
  })
})
