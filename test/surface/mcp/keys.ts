import { describe, expect, test } from '@jest/globals'
import { aFundedAgent, aKey, aPolicy, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anAssistant, textOf } from '../../support/http/assistant.ts'

const service = await startTestService({ own: true })

/** Only a person in the console can create a key with this right. */
async function aKeyForTools(client: TestClient) {
  const made = await aKey(client)
  await service.sql('update keys set tool_writes = true where id = $1', [made.id])
  return made
}

describe('the tools of a key', () => {
  test('read, find, describe and call what the key may read', async () => {
    const { key, client } = await service.owner()
    const policy = await aPolicy(client)
    const { tools, call } = await anAssistant(service.url, key)
    const listed = await tools()
    const names = listed.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['list_intents', 'search_operations', 'describe_operation', 'call_operation']),
    )
    expect(names).not.toContain('declare_intent')
    const found = await call('search_operations', { query: 'list policies' })
    expect(found.structuredContent.operations[0].operation).toBe('policies.list')
    const described = await call('describe_operation', { operation: 'policies.get' })
    expect(described.structuredContent).toMatchObject({
      method: 'GET',
      inputSchema: { required: ['id'] },
      isWriting: false,
    })
    const read = await call('call_operation', { operation: 'policies.get', input: { id: policy.id } })
    expect(read.structuredContent).toMatchObject({ id: policy.id })
  })

  test('require no member that they do not have, as a signature', async () => {
    const { key } = await service.owner()
    const { call } = await anAssistant(service.url, key)
    const described = await call('describe_operation', { operation: 'mandates.create' })
    const { properties, required } = described.structuredContent.inputSchema
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(required))
  })

  test('change nothing: what would is proposed to a person', async () => {
    const { key, client } = await service.owner()
    const { call } = await anAssistant(service.url, key)
    const agent = await aFundedAgent(client)
    const given = { agentId: agent.id, amountEuros: 1, merchant: 'Bookshop', purpose: 'A book' }
    const declared = await call('declare_intent', given)
    expect(declared.structuredContent.proposal).toMatchObject({ operation: 'intents.create', status: 'open' })
    const created = await call('call_operation', { operation: 'agents.create', input: { name: 'Mine' } })
    expect(created.structuredContent.proposal).toMatchObject({ operation: 'agents.create' })
    expect((await bodyOf(client.agents.list())).data).toHaveLength(1)
    expect((await bodyOf(client.intents.list())).data).toEqual([])
  })

  test('change something with a key that was made for it, once', async () => {
    const { client } = await service.owner()
    const made = await aKeyForTools(client)
    const { call, tools } = await anAssistant(service.url, String(made.key))
    expect((await tools()).map(({ name }) => name)).toContain('declare_intent')
    const input = { name: 'Reader' }
    const results = await Promise.all(
      Array.from({ length: 10 }, () => call('call_operation', { operation: 'agents.create', input })),
    )
    expect(new Set(results.map(({ structuredContent }) => structuredContent.id)).size).toBe(1)
    expect((await bodyOf(client.agents.list())).data).toHaveLength(1)
  })

  test('refuse what they do not know, as a key beside the input, which would be lost', async () => {
    const { client } = await service.owner()
    const { call } = await anAssistant(service.url, String((await aKeyForTools(client)).key))
    for (const member of ['idempotencyKey', 'name']) {
      const given = { operation: 'agents.create', input: { name: 'Reader' }, [member]: 'a' }
      const refused = await call('call_operation', given)
      expect(refused.structuredContent.error).toMatchObject({
        code: 'invalid_request',
        message: `${member}: unknown member. The operation’s fields belong into input.`,
      })
    }
    const listed = await call('call_operation', { operation: 'agents.list', query: { status: 'frozen' } })
    expect(listed.structuredContent.error?.message).toMatch(/^query: unknown member\./)
    const found = await call('search_operations', { query: 'agents', limit: 3 })
    expect(found.structuredContent.error?.message).toBe('limit: unknown member.')
    expect((await bodyOf(client.agents.list())).data).toEqual([])
  })

  test('are not for a key that another one has made, unless it is said again', async () => {
    const { client } = await service.owner()
    const made = await aKeyForTools(client)
    const child = await aKey(service.client(String(made.key)))
    expect(child.toolWrites).toBe(false)
    const { call } = await anAssistant(service.url, String(child.key))
    const refused = await call('call_operation', { operation: 'agents.create', input: { name: 'Reader' } })
    expect(refused.structuredContent.proposal.status).toBe('open')
    expect((await bodyOf(client.agents.list())).data).toEqual([])
  })

  test('keep to the scopes of the key, also where an operation is called by its name', async () => {
    const { client } = await service.owner()
    const { key } = await aKey(client, { scopes: ['agents:read'] })
    const { call } = await anAssistant(service.url, String(key))
    const found = await call('search_operations', { query: 'policies' })
    expect(found.structuredContent.operations).toEqual([])
    expect((await call('describe_operation', { operation: 'policies.list' })).isError).toBe(true)
    const refused = await call('call_operation', { operation: 'policies.list' })
    expect(refused.structuredContent.error.code).toBe('missing_scope')
  })

  test('see nothing of another owner', async () => {
    const [mine, theirs] = await Promise.all([service.owner(), service.owner()])
    const agent = await aFundedAgent(theirs.client)
    const { call } = await anAssistant(service.url, mine.key)
    const refused = await call('call_operation', { operation: 'agents.get', input: { id: agent.id } })
    expect(refused.structuredContent.error.code).toBe('agent_not_found')
  })

  test.each([
    ['assistants.message'],
    ['events.stream'],
    ['receipts.file'],
    ['intents.expire'],
    ['console.signInOptions'],
    ['sessions.begin'],
    ['delegations.redeem'],
    ['keys.create'],
    ['agentTokens.create'],
    ['no.such'],
    [7],
  ])('reach no operation that is for programs: %s', async operation => {
    const { key } = await service.owner()
    const { call } = await anAssistant(service.url, key)
    expect((await call('call_operation', { operation })).structuredContent.error.code).toBe(
      'unknown_operation',
    )
  })

  test('give a table as a text', async () => {
    const { key, client } = await service.owner()
    const { call } = await anAssistant(service.url, key)
    const { id: walletId } = await aWallet(client)
    const { id } = await bodyOf(client.statements.create({ body: { walletId } }))
    const table = await call('call_operation', { operation: 'statements.csv', input: { id } })
    expect([table.isError, textOf(table)]).toEqual([undefined, expect.stringContaining(',')])
  })
})
