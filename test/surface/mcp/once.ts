import { describe, expect, test } from '@jest/globals'
import { aFundedAgent, anIntent, aPolicy, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anAssistant, textOf } from '../../support/http/assistant.ts'

const service = await startTestService({ own: true })

async function anAgentWithToken(euros?: number) {
  const { client } = await service.owner()
  const policy = await aPolicy(client, { autoApproveLimitEuros: 100 })
  const agent = await aFundedAgent(client, { policyId: policy.id }, euros)
  const { token, id: tokenId } = await aToken(client, agent.id)
  const { call } = await anAssistant(service.url, String(token))
  return { client, agent, tokenId, call }
}

const BOOK = { amountEuros: 10, merchant: 'Bookshop', purpose: 'A book' }
const TWENTY = Array.from({ length: 20 })

const intentsOf = async (client: Parameters<typeof anIntent>[0]) => (await bodyOf(client.intents.list())).data

describe('the same call', () => {
  test('twenty times at once declares once', async () => {
    const { client, call } = await anAgentWithToken()
    const results = await Promise.all(TWENTY.map(() => call('declare_intent', BOOK)))
    const ids = new Set(results.map(({ structuredContent }) => structuredContent.id))
    expect([ids.size, (await intentsOf(client)).length]).toEqual([1, 1])
    const repeated = results.filter(({ _meta }) => _meta?.['agentpay/repeated'])
    expect(repeated).toHaveLength(19)
    for (const result of repeated) expect(textOf(result)).toContain('nothing was done again')
  })

  test('twenty concurrent identical calls pay once, for any order of members', async () => {
    const { client, agent, call } = await anAgentWithToken()
    const { walletId } = await aFundedAgent(client, { name: 'Supplier' })
    const intent = await anIntent(client, agent.id, { amountEuros: 40, walletId })
    const results = await Promise.all(TWENTY.map(() => call('pay_intent', { intentId: intent.id })))
    const transfers = results.map(({ structuredContent }) => structuredContent.transferId)
    expect(new Set(transfers).size).toBe(1)
    const { data } = await bodyOf(client.transactions.list({ query: { intentId: intent.id } }))
    expect(data).toHaveLength(1)
  })

  test('with its members in another order is the same', async () => {
    const { call } = await anAgentWithToken()
    const first = await call('declare_intent', { ...BOOK, metadata: { a: '1', b: '2' } })
    const { merchant, ...rest } = BOOK
    const second = await call('declare_intent', { metadata: { b: '2', a: '1' }, ...rest, merchant })
    expect([second.structuredContent.id, second._meta]).toEqual([
      first.structuredContent.id,
      { 'agentpay/repeated': true },
    ])
  })

  test('is another act under another key of the client’s', async () => {
    const { client, call } = await anAgentWithToken()
    const first = await call('declare_intent', { ...BOOK, idempotencyKey: 'one' })
    const again = await call('declare_intent', { ...BOOK, idempotencyKey: 'one' })
    const other = await call('declare_intent', { ...BOOK, idempotencyKey: 'two' })
    expect(again.structuredContent.id).toBe(first.structuredContent.id)
    expect(other.structuredContent.id).not.toBe(first.structuredContent.id)
    expect(await intentsOf(client)).toHaveLength(2)
    const clash = await call('declare_intent', { ...BOOK, amountEuros: 11, idempotencyKey: 'one' })
    expect(clash.structuredContent.error.code).toBe('idempotency_key_reused')
    const wrong = await call('declare_intent', { ...BOOK, idempotencyKey: 'a b' })
    expect(wrong.structuredContent.error.code).toBe('invalid_request')
  })

  test('a call counts as new ten minutes after the last identical one', async () => {
    const { client, tokenId, call } = await anAgentWithToken()
    const first = (await call('declare_intent', BOOK)).structuredContent.id
    const age = (minutes: number) =>
      service.sql(
        `update tool_calls set last_called_at = last_called_at - $2 * interval '1 minute' where caller_id = $1`,
        [tokenId, minutes],
      )
    await age(9)
    expect((await call('declare_intent', BOOK)).structuredContent.id).toBe(first)
    await age(9)
    expect((await call('declare_intent', BOOK)).structuredContent.id).toBe(first)
    await age(11)
    expect((await call('declare_intent', BOOK)).structuredContent.id).not.toBe(first)
    expect(await intentsOf(client)).toHaveLength(2)
  })

  test('is a new attempt after a refusal, since the obstacle may be gone', async () => {
    const { client, agent, call } = await anAgentWithToken(5)
    expect((await call('declare_intent', BOOK)).isError).toBe(true)
    await bodyOf(client.fund.wallet({ params: { id: agent.walletId }, body: { amountEuros: 100 } }))
    expect((await call('declare_intent', BOOK)).structuredContent.status).toBe('approved')
  })
})
