import './holds/hold-amounts.ts'
import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../support/at-once.ts'
import { aFundedAgent, anAgentUnder, anIntent, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const service = await startTestService({ own: true })

const balanceOf = async (client: TestClient, agentId: string) => {
  const { availableEuros, heldEuros } = await bodyOf(client.agents.balance({ params: { id: agentId } }))
  return [availableEuros, heldEuros]
}

async function anAgentWith100Euros(rules = {}) {
  const { client } = await service.owner()
  const { id } = await anAgentUnder(client, { autoApproveLimitEuros: 50, ...rules })
  const { walletId } = await bodyOf(client.agents.get({ params: { id } }))
  const main = await bodyOf(client.wallets.create({ body: { name: 'Main' } }))
  const body = { fromWalletId: walletId, toWalletId: main.id, amountEuros: 9_900 }
  await bodyOf(client.transfers.create({ body }))
  return { client, id, walletId, main }
}

describe('an approved intent', () => {
  test('holds its amount, and what the policy tolerates above it', async () => {
    const { client, id } = await anAgentWith100Euros({ amountTolerancePercent: 10 })
    await anIntent(client, id, { amountEuros: 20.01 })
    expect(await balanceOf(client, id)).toEqual([77.98, 22.02])
  })

  test('holds from the moment at which a person approves it', async () => {
    const { client, id } = await anAgentWith100Euros()
    const params = { id: (await anIntent(client, id, { amountEuros: 60 })).id }
    expect(await balanceOf(client, id)).toEqual([100, 0])
    await bodyOf(client.intents.approve({ params }))
    expect(await balanceOf(client, id)).toEqual([40, 60])
  })

  test.each([
    ['cancelled', (client: TestClient, params: { id: string }) => client.intents.cancel({ params })],
    ['expired', (client: TestClient) => client.sandbox.advance({ body: { days: 2 } })],
  ])('that is %s releases all of its money, once', async (status, end) => {
    const { client, id } = await anAgentWith100Euros({ amountTolerancePercent: 5 })
    const approvedByPolicy = await anIntent(client, id, { amountEuros: 20 })
    const approvedByPerson = await anIntent(client, id, { amountEuros: 60 })
    await bodyOf(client.intents.approve({ params: { id: approvedByPerson.id } }))
    expect(await balanceOf(client, id)).toEqual([16, 84])
    for (const params of [{ id: approvedByPolicy.id }, { id: approvedByPerson.id }])
      await Promise.all(Array.from({ length: 3 }, () => end(client, params)))
    expect(await balanceOf(client, id)).toEqual([100, 0])
    for (const params of [{ id: approvedByPolicy.id }, { id: approvedByPerson.id }])
      expect((await bodyOf(client.intents.get({ params }))).status).toBe(status)
    await expectVerifiedLedger(client)
  })

  test('held money cannot be moved out of the wallet', async () => {
    const { client, id, walletId, main } = await anAgentWith100Euros()
    await anIntent(client, id, { amountEuros: 50 })
    const body = { fromWalletId: walletId, toWalletId: main.id, amountEuros: 50.01 }
    const { status, error } = await client.transfers.create({ body })
    expect([status, error]).toEqual([400, '€ 50.01 is needed, but only € 50.00 is available.'])
  })

  test('is found in the ledger under its id', async () => {
    const { client, id } = await anAgentWith100Euros()
    const intent = await anIntent(client, id, { amountEuros: 50 })
    await bodyOf(client.intents.cancel({ params: { id: intent.id } }))
    const { data } = await bodyOf(client.ledger.transfers({ query: { referenceId: intent.id } }))
    expect(data.map(({ kind, reference }) => [kind, reference.type])).toEqual([
      ['release', 'intent'],
      ['hold', 'intent'],
    ])
  })
})

describe('an intent from a frozen wallet', () => {
  test('is denied by the policy and cannot be approved until the wallet is unfrozen', async () => {
    const { client, id } = await anAgentWith100Euros()
    const waiting = await anIntent(client, id, { amountEuros: 60 })
    const { walletId } = await bodyOf(client.agents.get({ params: { id } }))
    const setWalletStatus = (status: 'active' | 'frozen') =>
      bodyOf(client.wallets.update({ params: { id: walletId }, body: { status } }))
    await setWalletStatus('frozen')
    const denied = await anIntent(client, id, { amountEuros: 10 })
    expect([denied.status, denied.decision.checks.at(-1)?.rule]).toEqual(['denied', 'walletStatus'])
    expect(denied.decision.reason).toBe('The agent’s wallet is frozen: its money cannot be spent or held.')
    const approve = () => client.intents.approve({ params: { id: waiting.id } })
    expect(await approve()).toMatchObject({ status: 400, code: 'wallet_frozen' })
    expect((await anIntent(client, id, { amountEuros: 70 })).status).toBe('created')
    await setWalletStatus('active')
    expect((await approve()).status).toBe(200)
  })
})

describe('an intent without enough money', () => {
  test('is denied though the policy would approve it, and the decision says why', async () => {
    const { client, id } = await anAgentWith100Euros()
    for (const merchant of ['Bookshop', 'Library']) await anIntent(client, id, { amountEuros: 50, merchant })
    const intent = await anIntent(client, id, { amountEuros: 0.01 })
    const reason = '€ 0.01 is needed, but only € 0.00 is available.'
    expect(intent).toMatchObject({
      status: 'denied',
      decidedBy: { type: 'policy' },
      decision: { allowed: false, reason },
    })
    expect(intent.decision.checks.at(-1)).toMatchObject({ rule: 'insufficient_funds', outcome: 'fail' })
    const { data } = await bodyOf(client.events.list({ query: { event: 'intent.denied' } }))
    expect(data[0]?.data).toMatchObject({ intentId: intent.id, status: 'denied', reason })
    expect(await balanceOf(client, id)).toEqual([0, 100])
  })

  test('cannot be approved by a person, and waits until there is enough', async () => {
    const { client, id, walletId } = await anAgentWith100Euros()
    const declared = await anIntent(client, id, { amountEuros: 100.01 })
    const params = { id: declared.id }
    const refused = await client.intents.approve({ params })
    expect([refused.status, refused.code]).toEqual([400, 'insufficient_funds'])
    expect((await bodyOf(client.intents.get({ params }))).status).toBe('created')
    const money = '€ 100.01 is needed once the intent is approved, but only € 100.00 was available.'
    expect(declared.decision.checks.at(-1)).toMatchObject({
      rule: 'insufficient_funds',
      outcome: 'skip',
      message: money,
    })
    const { summary } = await bodyOf(client.intents.explanation({ params }))
    expect(summary).toMatch(/^The intent waits for a person: /)
    expect(summary).toContain(`${money} Fund the agent’s wallet, unless it has been funded since.`)
    await bodyOf(client.fund.wallet({ params: { id: walletId }, body: { amountEuros: 0.01 } }))
    expect((await bodyOf(client.intents.approve({ params }))).status).toBe('approved')
  })
})

describe('many intents at once', () => {
  test('are approved as long as there is money: fifty of a hundred', async () => {
    const { client, id } = await anAgentWith100Euros()
    const answers = await times(100, n => anIntent(client, id, { amountEuros: 2, merchant: `Shop ${n}` }))
    const statuses = answers.map(({ status }) => ({ status: status === 'approved' ? 1 : 0 }))
    expect(statusCounts(statuses)).toEqual({ 0: 50, 1: 50 })
    expect(await balanceOf(client, id)).toEqual([0, 100])
  })

  test('are approved by persons as long as there is money', async () => {
    const { client } = await service.owner()
    const agent = await aFundedAgent(client, {}, 100)
    const intents = await times(20, () => anIntent(client, agent.id, { amountEuros: 10 }))
    const answers = await times(20, index =>
      client.intents.approve({ params: { id: String(intents[index]?.id) } }),
    )
    expect(statusCounts(answers)).toEqual({ 200: 10, 400: 10 })
    expect(await balanceOf(client, agent.id)).toEqual([0, 100])
  })

  test('leave nothing held and release nothing twice when approved, cancelled and expired at once', async () => {
    const { client, id } = await anAgentWith100Euros()
    const intents = await times(20, () => anIntent(client, id, { amountEuros: 51, expiresInMinutes: 1 }))
    await Promise.all([
      ...intents.flatMap(({ id }) => [
        client.intents.approve({ params: { id } }),
        client.intents.cancel({ params: { id } }),
      ]),
      client.sandbox.advance({ body: { minutes: 1 } }),
    ])
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await balanceOf(client, id)).toEqual([100, 0])
    await expectVerifiedLedger(client)
  })
})
