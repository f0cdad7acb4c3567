import { describe, expect, test } from '@jest/globals'
import { anAgentClient, aSpender } from '../../support/cards/reveal.ts'
import { aBeneficiary, anAgent, anIntent, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { traceOf } from '../../support/trace.ts'

const service = await startTestService({ own: true })

const execute = (client: TestClient, intentId: string, more: object = {}) =>
  client.checkout.execute({ body: { intentId }, ...more })

async function aPayee() {
  const { client } = await service.owner()
  const agent = await aSpender(client)
  const wallet = await aWallet(client, 0, { name: 'Bookshop' })
  const intent = await anIntent(client, agent.id, { walletId: wallet.id, amountEuros: 25 })
  return { client, agent, wallet, intent, agentClient: await anAgentClient(service, client, agent.id) }
}

const balanceOf = async (client: TestClient, id: string): Promise<number> =>
  (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros

describe('the payment of an intent whose payee is a wallet', () => {
  test('moves its amount, completes it and is one transfer', async () => {
    const { client, agentClient, wallet, intent } = await aPayee()
    const answer = await execute(agentClient, intent.id)
    expect(answer).toMatchObject({ status: 200, body: { status: 'completed', intentId: intent.id } })
    const { transactionId, transferId } = answer.body
    expect(await balanceOf(client, wallet.id)).toBe(25)
    expect(await bodyOf(client.intents.get({ params: { id: intent.id } }))).toMatchObject({
      status: 'completed',
      transactionId,
    })
    expect(await bodyOf(client.transfers.get({ params: { id: transferId } }))).toMatchObject({
      intentId: intent.id,
      toWalletId: wallet.id,
      transactionId,
      status: 'completed',
    })
    expect((await traceOf(service, answer))?.events).toEqual(
      expect.arrayContaining(['transfer.completed', 'intent.completed', 'transaction.completed']),
    )
    expect((await bodyOf(client.ledger.verify())).ok).toBe(true)
  })

  test('is made once by twenty at once, and a replay has the same answer', async () => {
    const { client, wallet, intent } = await aPayee()
    const answers = await Promise.all(Array.from({ length: 20 }, () => execute(client, intent.id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(400)])
    expect(await balanceOf(client, wallet.id)).toBe(25)
    const other = await anIntent(client, intent.agentId, { walletId: wallet.id, amountEuros: 5 })
    const pay = () => bodyOf(execute(client, other.id, { idempotencyKey: 'execute-1' }))
    const [first, again] = [await pay(), await pay()]
    expect(again).toEqual(first)
    expect(await balanceOf(client, wallet.id)).toBe(30)
  })

  test('is refused for another payee, with what to do', async () => {
    const { client, agent } = await aPayee()
    const beneficiary = await aBeneficiary(client)
    const [byCard, bySepa] = [
      await anIntent(client, agent.id, { merchant: 'shop.example.com' }),
      await anIntent(client, agent.id, { beneficiaryId: beneficiary.id }),
    ]
    for (const { id } of [byCard, bySepa]) {
      const answer = await execute(client, id)
      expect(answer).toMatchObject({ status: 400, code: 'intent_not_by_wallet' })
      expect(answer.error).toMatch(/POST \/checkout\/sessions.*POST \/transfers/)
    }
  })

  test.each<
    [string, string, (client: TestClient, ids: { intent: string; agent: string; wallet: string }) => unknown]
  >([
    [
      'a cancelled intent',
      'intent_not_approved',
      (client, { intent }) => bodyOf(client.intents.cancel({ params: { id: intent }, body: {} })),
    ],
    [
      'a frozen agent',
      'agent_not_active',
      (client, { agent }) => bodyOf(client.agents.freeze({ params: { id: agent }, body: {} })),
    ],
    [
      'a closed payee',
      'wallet_closed',
      (client, { wallet }) => client.wallets.close({ params: { id: wallet } }),
    ],
  ])('is refused for %s', async (_, code, change) => {
    const { client, agent, wallet, intent } = await aPayee()
    await change(client, { intent: intent.id, agent: agent.id, wallet: wallet.id })
    expect(await execute(client, intent.id)).toMatchObject({ status: 400, code })
  })

  test('is not for another agent or owner', async () => {
    const { client, wallet, intent } = await aPayee()
    const colleague = await anAgentClient(service, client, (await anAgent(client)).id)
    for (const other of [colleague, (await service.owner()).client])
      expect(await execute(other, intent.id)).toMatchObject({ status: 404, code: 'intent_not_found' })
    expect(await balanceOf(client, wallet.id)).toBe(0)
  })
})
