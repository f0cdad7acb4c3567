import { describe, expect, test } from '@jest/globals'
import { balanceOf } from '../../support/cards/simulated.ts'
import {
  aDispute,
  aPaidCard,
  daysLater,
  dispute,
  getDispute,
  ledgerBalance,
  networkSays,
} from '../../support/commerce/disputes.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()

const merchantRefunds = (client: TestClient, authorizationId: string, amountEuros: number) =>
  bodyOf(client.sandbox.refundCard({ body: { authorizationId, amountEuros } }))

describe('a merchant that refunds meanwhile', () => {
  test('makes the dispute smaller; the whole of it wins it, and the owner has it once', async () => {
    const { client, agent, transactionId, authorizationId } = await aPaidCard(service, 60)
    const { id } = await aDispute(client, transactionId, { reason: 'unauthorized' })
    await merchantRefunds(client, authorizationId, 20)
    expect(await getDispute(client, id)).toMatchObject({
      status: 'open',
      refundedEuros: 20,
      creditedEuros: 40,
    })
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    await merchantRefunds(client, authorizationId, 40)
    expect(await getDispute(client, id)).toMatchObject({ status: 'won', creditedEuros: 0 })
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    expect(await ledgerBalance(client, 'disputes')).toBe(0)
    await expectVerifiedLedger(client)
  })

  test('is in the resolution of a dispute that was won before', async () => {
    const { client, transactionId, authorizationId } = await aPaidCard(service, 60)
    const { id } = await aDispute(client, transactionId)
    await networkSays(client, id, 'won')
    const resolved = await getDispute(client, id)
    expect(resolved.resolution).toBe('The card network has decided for you: € 60.00 stays yours.')
    await merchantRefunds(client, authorizationId, 20)
    expect(await getDispute(client, id)).toMatchObject({
      ...{ status: 'won', creditedEuros: 40, resolvedAt: resolved.resolvedAt },
      resolution: 'The card network has decided for you: € 40.00 stays yours.',
    })
    await merchantRefunds(client, authorizationId, 40)
    expect((await getDispute(client, id)).resolution).toBe('The whole disputed amount has come back.')
  })

  test('and a network that pays all the same leave the owner with the payment, once', async () => {
    const { client, agent, transactionId, authorizationId } = await aPaidCard(service, 60)
    const { id } = await aDispute(client, transactionId)
    await networkSays(client, id, 'won')
    await merchantRefunds(client, authorizationId, 60)
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    expect(await getDispute(client, id)).toMatchObject({ status: 'won', refundedEuros: 60, creditedEuros: 0 })
    await expectVerifiedLedger(client)
  })

  test('loses no refund that arrives together with a decision', async () => {
    for (let round = 0; round < 8; round++) {
      const { client, agent, transactionId, authorizationId } = await aPaidCard(service, 60)
      const { id } = await aDispute(client, transactionId)
      await Promise.all([
        merchantRefunds(client, authorizationId, 10),
        networkSays(client, id, 'won'),
        merchantRefunds(client, authorizationId, 10),
      ])
      expect(await balanceOf(client, agent.id)).toEqual([300, 0])
      expect(await getDispute(client, id)).toMatchObject({ refundedEuros: 20, creditedEuros: 40 })
    }
  })

  test('a requested refund of the rest leaves the dispute unchanged, in either order', async () => {
    for (const isDisputedFirst of [true, false]) {
      const { client, agent, transactionId, authorizationId } = await aPaidCard(service, 60)
      const asked = () =>
        bodyOf(client.refunds.create({ body: { transactionId, amountEuros: 30, reason: 'requested' } }))
      const disputed = () => aDispute(client, transactionId, { amountEuros: 30, reason: 'unauthorized' })
      const first = isDisputedFirst ? await disputed() : undefined
      await asked()
      const { id } = first ?? (await disputed())
      await merchantRefunds(client, authorizationId, 30)
      expect(await getDispute(client, id)).toMatchObject({
        status: 'open',
        refundedEuros: 0,
        creditedEuros: 30,
      })
      expect(await balanceOf(client, agent.id)).toEqual([300, 0])
      await merchantRefunds(client, authorizationId, 30)
      expect(await getDispute(client, id)).toMatchObject({
        status: 'won',
        refundedEuros: 30,
        creditedEuros: 0,
      })
      expect(await balanceOf(client, agent.id)).toEqual([300, 0])
      await expectVerifiedLedger(client)
    }
  })

  test('before the dispute leaves only the rest to be disputed', async () => {
    const { client, transactionId, authorizationId } = await aPaidCard(service, 60)
    await merchantRefunds(client, authorizationId, 25)
    expect(await dispute(client, transactionId, { amountEuros: 35.01 })).toMatchObject({
      code: 'amount_too_high',
      body: { error: expect.stringContaining('€ 35.00') },
    })
    expect(await aDispute(client, transactionId)).toMatchObject({ amountEuros: 35, refundedEuros: 0 })
  })
})

describe('a withdrawn dispute that the network decides for the owner all the same', () => {
  test('makes a later one of the payment smaller: the payment comes back once, and both follow the last report', async () => {
    const { client, agent, transactionId, authorizationId } = await aPaidCard(service, 60)
    const first = await aDispute(client, transactionId, { amountEuros: 20 })
    await bodyOf(client.disputes.withdraw({ params: { id: first.id } }))
    const later = await aDispute(client, transactionId, { reason: 'unauthorized' })
    expect(later).toMatchObject({ amountEuros: 60, creditedEuros: 60 })
    await daysLater(client, 1)
    await networkSays(client, first.id, 'won')
    const [one, other] = [await getDispute(client, first.id), await getDispute(client, later.id)]
    expect(one).toMatchObject({ status: 'won', creditedEuros: 20 })
    expect(other).toMatchObject({ status: 'open', amountEuros: 60, refundedEuros: 20, creditedEuros: 40 })
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    await merchantRefunds(client, authorizationId, 10)
    expect(await getDispute(client, first.id)).toMatchObject({ creditedEuros: 10 })
    expect(await getDispute(client, later.id)).toMatchObject({ creditedEuros: 40 })
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    await networkSays(client, first.id, 'lost')
    expect(await getDispute(client, later.id)).toMatchObject({ refundedEuros: 10, creditedEuros: 50 })
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    await expectVerifiedLedger(client)
  })
})
