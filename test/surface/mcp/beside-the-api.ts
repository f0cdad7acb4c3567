import { describe, expect, test } from '@jest/globals'
import { aFundedAgent, anIntent, aPolicy, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anAssistant } from '../../support/http/assistant.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService({ own: true })
const TEN = Array.from({ length: 10 }, (_, n) => n)

async function anAgentWithToken(limits: object) {
  const owner = await service.owner()
  const policy = await aPolicy(owner.client, { autoApproveLimitEuros: 100, ...limits })
  const agent = await aFundedAgent(owner.client, { policyId: policy.id })
  const { token } = await aToken(owner.client, agent.id)
  return { ...owner, agent, token: String(token), call: (await anAssistant(service.url, String(token))).call }
}

describe('tools and the API at once', () => {
  test('share a daily limit: of twenty declarations five are approved', async () => {
    const { client, agent, call } = await anAgentWithToken({ dailyLimitEuros: 50 })
    const book = { amountEuros: 10, merchant: 'Bookshop', purpose: 'A book' }
    const answers = await Promise.all(
      TEN.flatMap(n => [
        call('declare_intent', { ...book, idempotencyKey: `tool-${n}` }).then(
          ({ isError, structuredContent }) => !isError && structuredContent.status === 'approved',
        ),
        anIntent(client, agent.id, book).then(({ status }) => status === 'approved'),
      ]),
    )
    expect(answers.filter(isApproved => isApproved)).toHaveLength(5)
    const { data } = await bodyOf(client.intents.list({ query: { status: 'approved' } }))
    expect(data).toHaveLength(5)
    await expectVerifiedLedger(client)
  })

  test('pay an intent once, whichever way and under whichever key they come', async () => {
    const { client, agent, token, call } = await anAgentWithToken({})
    const { walletId } = await aFundedAgent(client, { name: 'Supplier' }, 1)
    const intent = await anIntent(client, agent.id, { amountEuros: 40, walletId })
    const own = service.client(token)
    const paying = { fromWalletId: String(agent.walletId), amountEuros: 40, intentId: intent.id }
    const answers = await Promise.all(
      TEN.flatMap(n => [
        call('pay_intent', { intentId: intent.id, ...(n < 5 ? { idempotencyKey: `tool-${n}` } : {}) }),
        own.transfers.create({ body: { ...paying, toWalletId: walletId } }),
      ]),
    )
    expect(answers).toHaveLength(20)
    const { data } = await bodyOf(client.transactions.list({ query: { intentId: intent.id } }))
    expect(data).toHaveLength(1)
    const balance = async (id: string) =>
      (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros
    expect([await balance(String(agent.walletId)), await balance(walletId as string)]).toEqual([9_960, 41])
    await expectVerifiedLedger(client)
  })
})
