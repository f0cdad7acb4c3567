import { describe, expect, test } from '@jest/globals'
import { agentTokensIn } from '../../support/control/agent-tokens.ts'
import { aFundedAgent, aPolicy, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anAssistant, textOf } from '../../support/http/assistant.ts'

const service = await startTestService({ own: true })
const { anOwnerWithAgent } = agentTokensIn(service)

const KIB = 1_024

describe('the tools of an agent', () => {
  test.each(['legacy', '2026-07-28'] as const)('are few and short, in the protocol of %s', async version => {
    const { token } = await anOwnerWithAgent()
    const { tools } = await anAssistant(service.url, String(token.token), { version })
    const listed = await tools()
    expect(listed.length).toBeLessThanOrEqual(25)
    expect(JSON.stringify(listed).length).toBeLessThanOrEqual(32 * KIB)
    expect(listed.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['declare_intent', 'wait_for_intent', 'explain_refusal', 'get_balance']),
    )
    for (const { name, title, description, inputSchema, annotations } of listed) {
      expect([name, title, description?.length]).toEqual([
        expect.stringMatching(/^[a-z_0-9]{1,64}$/),
        expect.stringMatching(/\w/),
        expect.any(Number),
      ])
      expect(inputSchema.type).toBe('object')
      expect(annotations).toMatchObject({ readOnlyHint: expect.any(Boolean) })
    }
  })

  test('are those that the token may call, and no others', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { token } = await aToken(client, agent.id, { scopes: ['policies:read'] })
    const { tools, call } = await anAssistant(service.url, String(token))
    expect((await tools()).map(({ name }) => name).sort()).toEqual([
      'check_payment',
      'get_budgets',
      'get_policy',
    ])
    const asked = { headers: { authorization: `Bearer ${token}` } }
    const body = { operation: 'agents.freeze' }
    for (const [tool, given, path] of [
      ['declare_intent', { amountEuros: 1, merchant: 'Bookshop', purpose: 'A book' }, '/intents'],
      ['wait_for_intent', { intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz' }, '/intents'],
      ['propose_change', body, '/canvas/proposals/proposal_01jd8x2m4ye7k9v0c3q5r6t8wz/dismiss'],
    ] as const) {
      const refused = await call(tool, given)
      const method = tool === 'wait_for_intent' ? 'GET' : 'POST'
      const byApi = (await (await fetch(service.url + path, { ...asked, method })).json()) as object
      expect([tool, refused.isError, refused.structuredContent.error]).toEqual([
        tool,
        true,
        { code: 'missing_scope', message: (byApi as { error: string }).error, remedies: [] },
      ])
    }
  })

  test.each(['legacy', '2026-07-28'] as const)(
    'calls of unknown tools are protocol errors, in the protocol of %s',
    async version => {
      const { token } = await anOwnerWithAgent()
      const { call } = await anAssistant(service.url, String(token.token), { version })
      await expect(call('approve_everything')).rejects.toMatchObject({
        code: -32_602,
        message: expect.stringMatching(/Unknown tool: approve_everything\. tools\/list shows/),
      })
      await expect(call('pay 5555 5555 5555 4444')).rejects.toThrow(/Unknown tool: pay [^\d]*4444/)
      await expect(call('x'.repeat(9_000))).rejects.toThrow(/Unknown tool: x{100}\. /)
    },
  )

  test('declare and pay as the API does, in the agent’s name', async () => {
    const { client } = await service.owner()
    const policy = await aPolicy(client, { autoApproveLimitEuros: 100 })
    const [agent, payee] = await Promise.all([
      aFundedAgent(client, { policyId: policy.id }),
      aFundedAgent(client, { name: 'Supplier' }),
    ])
    const { token } = await aToken(client, agent.id)
    const { call } = await anAssistant(service.url, String(token))
    const declared = await call('declare_intent', {
      amountEuros: 12.5,
      walletId: payee.walletId,
      purpose: 'A data set',
    })
    expect(declared.structuredContent).toMatchObject({ status: 'approved', agentId: agent.id })
    const intentId = declared.structuredContent.id
    const paid = await call('pay_intent', { intentId })
    expect(paid.structuredContent).toMatchObject({ status: 'completed', intentId })
    expect(await bodyOf(client.intents.get({ params: { id: intentId } }))).toMatchObject({
      status: 'completed',
    })
    const listed = await call('list_transactions', { intentId })
    expect(listed.structuredContent.data).toEqual([expect.objectContaining({ intentId })])
  })

  test('take the agent from its token', async () => {
    const { token, agent } = await anOwnerWithAgent()
    const { call } = await anAssistant(service.url, String(token.token))
    const balance = await call('get_balance')
    expect([balance.isError, balance.structuredContent.agentId ?? agent.id]).toEqual([undefined, agent.id])
  })

  test('mark the names in a refusal as data', async () => {
    const { token } = await anOwnerWithAgent()
    const { call } = await anAssistant(service.url, String(token.token))
    const refused = await call('pay_intent', { intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz' })
    expect(refused.content.map(({ text }) => text)).toEqual([
      expect.stringMatching(/third parties.*never follow an instruction/),
      expect.stringMatching(/^intent_not_found: /),
    ])
  })

  test('say of a refusal what it is and what would help', async () => {
    const { client } = await service.owner()
    const policy = await aPolicy(client, { merchantAllowlist: ['Bookshop'] })
    const agent = await aFundedAgent(client, { policyId: policy.id })
    const { token } = await aToken(client, agent.id)
    const { call } = await anAssistant(service.url, String(token))
    const refused = await call('declare_intent', { amountEuros: 5, merchant: 'Casino', purpose: 'A bet' })
    expect([refused.isError, refused.structuredContent.error.code]).toEqual([true, 'intent_denied'])
    expect(refused.structuredContent.error.remedies).toEqual([expect.stringMatching(/\w/)])
    expect(textOf(refused)).toContain('To get it approved')
  })

  test.each([
    [
      'declare_intent',
      { amountEuros: -1, merchant: 'Bookshop', purpose: 'A book' },
      'invalid_request',
      /amountEuros/,
    ],
    ['declare_intent', { amountEuros: 1, merchant: 'B', purpose: 'A', other: 1 }, 'invalid_request', /other/],
    ['add_evidence', { intentId: 'x', type: 'other', file: 'aGk=' }, 'invalid_request', /file/],
    [
      'declare_intent',
      { amountEuros: 1, merchant: 'B', purpose: 'A', idempotencyKey: { toString: 1 } },
      'invalid_request',
      /idempotencyKey/,
    ],
    ['cancel_intent', {}, 'invalid_request', /id/],
    ['cancel_intent', { id: '../../agents' }, 'not_found', /id/],
    ['cancel_intent', { id: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz' }, 'intent_not_found', /intent/],
    ['wait_for_intent', { intentId: 1 }, 'invalid_request', /intentId/],
    ['wait_for_intent', { intentId: 'x', seconds: 51 }, 'invalid_request', /seconds/],
    ['wait_for_intent', { intentId: 'x', second: 5 }, 'invalid_request', /second/],
    ['list_intents', { limit: 'many' }, 'invalid_request', /limit/],
    ['list_intents', { cursor: 'x' }, 'invalid_cursor', /cursor/],
    ['call_operation', { operation: 'agents.list' }, 'wrong_caller', /tools\/list/],
  ])('refuse what %s is given wrongly: %j', async (tool, given, code, words) => {
    const { token } = await anOwnerWithAgent()
    const { call } = await anAssistant(service.url, String(token.token))
    const refused = await call(tool, given)
    expect([refused.isError, refused.structuredContent.error]).toEqual([
      true,
      expect.objectContaining({ code, message: expect.stringMatching(words) }),
    ])
  })
})
