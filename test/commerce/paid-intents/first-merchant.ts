import { describe, expect, test } from '@jest/globals'
import { statusCounts } from '../../support/at-once.ts'
import { clientAt } from '../../support/client.ts'
import { aBeneficiary, anAgentUnder, anIntent, aToken, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const elsewhere = await service.another()

async function someone(rules: Parameters<typeof anAgentUnder>[1] = {}) {
  const { client: mine } = await service.owner()
  const agent = await anAgentUnder(mine, { autoApproveLimitEuros: 2_000, ...rules })
  const { token } = await aToken(mine, agent.id, { scopes: ['transfers:create', 'intents:write'] })
  const tokenClients = [service.url, elsewhere].map(url => clientAt({ url, token: String(token) }))
  const named = {
    wallet: async (name: string) => ({ walletId: (await aWallet(mine, 0, { name })).id }),
    sepa: async (name: string) => ({ beneficiaryId: (await aBeneficiary(mine, { name })).id }),
  }
  return {
    client: mine,
    agent,
    params: { id: agent.id },
    intend: async (merchant: string, by: keyof typeof named, amountEuros = 20) =>
      anIntent(mine, agent.id, { amountEuros, ...(await named[by](merchant)) }),
    pay: (intent: Awaited<ReturnType<typeof anIntent>>, n = 0) =>
      (tokenClients[n % 2] as typeof mine).transfers.create({
        body: {
          fromWalletId: agent.walletId,
          intentId: intent.id,
          amountEuros: intent.amountEuros,
          ...(intent.walletId ? { toWalletId: intent.walletId } : {}),
          ...(intent.beneficiaryId ? { beneficiaryId: intent.beneficiaryId } : {}),
        },
      }),
    pass: () => bodyOf(mine.sandbox.advance({ body: { minutes: 2 } })),
    intent: async (id: string) => (await bodyOf(mine.intents.get({ params: { id } }))).status,
    transfer: (id: string) => bodyOf(mine.transfers.get({ params: { id } })),
  }
}

describe('an agent that is bound to the first merchant', () => {
  test('pays one of two approved merchants, even with many requests at once on two processes', async () => {
    const { client, intend, pay } = await someone({ lockToFirstMerchant: true })
    const intents = [await intend('Bookshop', 'wallet'), await intend('Bakery', 'wallet')]
    expect(intents.map(({ status }) => status)).toEqual(['approved', 'approved'])
    const answers = await Promise.all(intents.map((intent, n) => pay(intent, n)))
    expect(statusCounts(answers)).toEqual({ 201: 1, 400: 1 })
    expect(answers.find(({ status }) => status === 400)).toMatchObject({
      code: 'intent_other_merchant',
      error: expect.stringMatching(/turn off lockToFirstMerchant/),
    })
    expect(await bodyOf(client.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })
  })

  test('pays that merchant again in any spelling, and others once the rule is off', async () => {
    const { client, agent, intend, pay } = await someone({ lockToFirstMerchant: true })
    const other = await intend('Bakery', 'wallet')
    const again = await intend('BOOKSHOP', 'wallet')
    expect((await pay(await intend('Bookshop', 'wallet'))).status).toBe(201)
    expect((await pay(again)).status).toBe(201)
    expect((await pay(other)).code).toBe('intent_other_merchant')
    const body = { field: 'lockToFirstMerchant' as const, value: false }
    await bodyOf(client.policies.toggle({ params: { agentId: agent.id }, body }))
    expect((await pay(other)).status).toBe(201)
  })

  test('submits the first of two payments under way, and cancels the other', async () => {
    const { intend, pay, pass, intent, transfer } = await someone({ lockToFirstMerchant: true })
    const intents = [await intend('Bookshop', 'sepa'), await intend('Bakery', 'sepa')]
    const transfers = await Promise.all(intents.map((paidIntent, n) => bodyOf(pay(paidIntent, n))))
    await pass()
    const ends = await Promise.all(transfers.map(({ id }) => transfer(id)))
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['cancelled', 'completed'])
    const stopped = ends.find(({ status }) => status === 'cancelled')
    expect(stopped?.reason?.code).toBe('intent_other_merchant')
    expect(await intent(String(stopped?.intentId))).toBe('approved')
  })

  test('is not bound by a payment that failed', async () => {
    const { intend, pay, pass, transfer } = await someone({ lockToFirstMerchant: true })
    const { id } = await bodyOf(pay(await intend('Bookshop', 'sepa', 666.01)))
    await pass()
    expect((await transfer(id)).status).toBe('rejected')
    expect((await pay(await intend('Bakery', 'wallet'))).status).toBe(201)
    expect((await intend('Bookshop', 'wallet')).status).toBe('denied')
  })
})

test('a payment that is not submitted is cancelled with its agent’s freezing, and can be made again later', async () => {
  const { client, params, intend, pay, pass, intent, transfer } = await someone()
  const paidIntent = await intend('Bookshop', 'sepa')
  const { id } = await bodyOf(pay(paidIntent))
  await bodyOf(client.agents.freeze({ params }))
  expect(await transfer(id)).toMatchObject({ status: 'cancelled', reason: { code: 'agent_not_active' } })
  expect(await intent(paidIntent.id)).toBe('approved')
  expect((await bodyOf(client.agents.balance({ params }))).heldEuros).toBe(20)
  expect((await pay(paidIntent)).code).toBe('agent_not_active')
  await bodyOf(client.agents.unfreeze({ params }))
  const second = await bodyOf(pay(paidIntent))
  await pass()
  expect((await transfer(second.id)).status).toBe('completed')
  expect(await intent(paidIntent.id)).toBe('completed')
})
