import { describe, expect, test } from '@jest/globals'
import { aCard } from '../../support/cards/cards.ts'
import { networkBefore } from '../../support/cards/network.ts'
import { demand, startMerchant } from '../../support/commerce/merchant.ts'
import { deciderOf, inDays, mandatesIn } from '../../support/control/mandates.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const { anOwnerWithAgent, aMandate, countersOf, eventsOf } = mandatesIn(service, service.url)
const network = networkBefore(service)
const shop = await startMerchant()

type Subject = Awaited<ReturnType<typeof anOwnerWithAgent>>

const get = ({ client }: Subject, { id }: { id: string }) => bodyOf(client.mandates.get({ params: { id } }))

describe('a mandate counts', () => {
  test('counts held amounts with their tolerance, up to its limit', async () => {
    const owner = await anOwnerWithAgent({ amountTolerancePercent: 10 })
    const mandate = await aMandate(owner, { totalEuros: 50 })
    await owner.buy(40)
    expect(await get(owner, mandate)).toMatchObject({ heldEuros: 44, totalLeftEuros: 6 })
    await owner.buy(6)
    expect(await get(owner, mandate)).toMatchObject({ heldEuros: 50, totalLeftEuros: 0 })
  })

  test('nothing of what was cancelled or has expired', async () => {
    const owner = await anOwnerWithAgent()
    const mandate = await aMandate(owner, { perDayEuros: 20, count: 1 })
    const first = await owner.buy(20)
    expect(deciderOf(await owner.buy(20))).toBe('nobody')
    await bodyOf(owner.client.intents.cancel({ params: first }))
    expect(deciderOf(await owner.buy(20, { expiresInMinutes: 1 }))).toBe(mandate.id)
    await bodyOf(owner.client.sandbox.advance({ body: { minutes: 1 } }))
    expect(deciderOf(await owner.buy(20))).toBe(mandate.id)
    expect(await countersOf(mandate.id)).toMatchObject([
      { period: 'all', reserved: '2000', waiting: 1 },
      {},
      {},
    ])
  })

  test('counts its payments for its whole life, across changes of the agent’s policy', async () => {
    const owner = await anOwnerWithAgent()
    const mandate = await aMandate(owner, { totalEuros: 500, count: 2 })
    await owner.buy(20)
    const template = await bodyOf(
      owner.client.policies.create({ body: { name: 'Other', autoApproveLimitEuros: 2 } }),
    )
    const assignment = { params: { agentId: owner.id }, body: { policyId: template.id } }
    await bodyOf(owner.client.policies.assign(assignment))
    expect(deciderOf(await owner.buy(20))).toBe(mandate.id)
    expect(deciderOf(await owner.buy(20))).toBe('nobody')
    expect(await get(owner, mandate)).toMatchObject({ countLeft: 0 })
  })

  test('counts from zero in each day and month of the tenant’s time', async () => {
    const owner = await anOwnerWithAgent()
    const mandate = await aMandate(
      owner,
      { perDayEuros: 20, perMonthEuros: 10_000 },
      { expiresAt: inDays(60) },
    )
    await owner.buy(20)
    expect(deciderOf(await owner.buy(20))).toBe('nobody')
    await bodyOf(owner.client.sandbox.advance({ body: { days: 1 } }))
    expect(deciderOf(await owner.buy(20))).toBe(mandate.id)
    await bodyOf(owner.client.sandbox.advance({ body: { days: 31 } }))
    expect(await get(owner, mandate)).toMatchObject({ dayLeftEuros: 20, monthLeftEuros: 10_000 })
  })

  test('a transfer once, through its intent; the last one that it allows exhausts it', async () => {
    const owner = await anOwnerWithAgent()
    const { client, agent } = owner
    const mandate = await aMandate(owner, { totalEuros: 500, count: 2 })
    const shop = await aWallet(client, 0, { name: 'Bookshop' })
    const pay = async (intentId: string, amountEuros: number) =>
      bodyOf(
        client.transfers.create({
          body: { fromWalletId: agent.walletId, toWalletId: shop.id, amountEuros, intentId },
        }),
      )
    const intents = [
      await owner.buy(25, { walletId: shop.id, merchant: undefined }),
      await owner.buy(30, { walletId: shop.id, merchant: undefined }),
    ]
    expect(intents.map(deciderOf)).toEqual([mandate.id, mandate.id])
    await pay(String(intents[0]?.id), 20)
    expect(await get(owner, mandate)).toMatchObject({
      status: 'active',
      heldEuros: 30,
      spentEuros: 20,
      countLeft: 0,
    })
    await pay(String(intents[1]?.id), 30)
    const ended = await get(owner, mandate)
    expect(ended).toMatchObject({
      status: 'exhausted',
      spentEuros: 50,
      heldEuros: 0,
      totalLeftEuros: 0,
      countLeft: 0,
    })
    expect(ended.endedAt).not.toBeNull()
    expect(await eventsOf(mandate.id)).toContain('mandate.exhausted')
    expect(await countersOf(mandate.id)).toMatchObject([{ spent: '5000', uses: 2, waiting: 0 }, {}, {}])
    const answer = await client.mandates.suspend({ params: mandate, body: {} })
    expect([answer.status, answer.code, answer.error]).toEqual([
      400,
      'mandate_over',
      'The mandate is already exhausted.',
    ])
  })

  test('a payment by card once, through its intent, and what it clears for', async () => {
    const owner = await anOwnerWithAgent({ amountTolerancePercent: 20 })
    const mandate = await aMandate(owner, { totalEuros: 25 })
    const card = await aCard(owner.client, { agentId: owner.id, usage: 'multi' })
    await owner.buy(25, { merchant: 'Bookshop' })
    const { authorizationId } = await network.authorize(card.id, 25, { descriptor: 'Bookshop' })
    expect(await get(owner, mandate)).toMatchObject({ status: 'active', heldEuros: 25, spentEuros: 0 })
    await network.clear(card.id, authorizationId, 25)
    expect(await get(owner, mandate)).toMatchObject({ status: 'exhausted', heldEuros: 0, spentEuros: 25 })
  })

  test('a machine payment once, through its intent', async () => {
    const owner = await anOwnerWithAgent({ amountTolerancePercent: 0 })
    const { client } = owner
    const mandate = await aMandate(owner, { totalEuros: 100, count: 3 })
    const { id: cardId } = await aCard(client, { agentId: owner.id, usage: 'multi' })
    const url = shop.sells('/report', demand({ amount: '2500' }))
    const { id: intentId } = await owner.buy(25, { merchant: '127.0.0.1' })
    await bodyOf(client.mpp.pay({ body: { url, intentId, cardId } }))
    expect((await bodyOf(client.intents.get({ params: { id: intentId } }))).decidedBy?.id).toBe(mandate.id)
    expect(await get(owner, mandate)).toMatchObject({ countLeft: 2, totalLeftEuros: 75 })
    expect(await countersOf(mandate.id)).toMatchObject([
      { uses: 1, waiting: 0, spent: '2500', reserved: '0' },
      {},
      {},
    ])
  })
})
