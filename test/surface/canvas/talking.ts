import { describe, expect, test } from '@jest/globals'
import { type AnswerLine, CanvasLine } from '../../../src/surface/canvas/lines.ts'
import { unknown } from '../../support/canvas/sentences.ts'
import { aFundedAgent, aKey, anIntent, aPolicy, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })

async function anOwnerWhoTalks() {
  const { client, key } = await service.owner()
  const policy = await aPolicy(client, {
    autoApproveLimitEuros: 5,
    dailyLimitEuros: 50,
    merchantBlocklist: ['Casino'],
  })
  const agent = await aFundedAgent(client, { name: 'Reader', policyId: policy.id })
  return { client, key, agent, say: talkingWith(key) }
}

const talkingWith =
  (token: string) =>
  async (message: string, conversationId?: string): Promise<AnswerLine[]> => {
    const { status, text, headers } = await service.http('POST', '/canvas/messages', {
      token,
      body: { message, ...(conversationId ? { conversationId } : {}) },
    })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8'])
    const lines = text
      .split('\n')
      .filter(line => line !== '')
      .map(line => CanvasLine.parse(JSON.parse(line)))
    expect(lines.map(({ type }) => type).indexOf('done')).toBe(lines.length - 1)
    return lines
  }

const textIn = (lines: readonly AnswerLine[]): string =>
  lines.flatMap(line => (line.type === 'text' ? [line.text] : [])).join('\n')

const proposalIn = (lines: readonly AnswerLine[]): string =>
  String(lines.flatMap(line => (line.type === 'proposal' ? [line.proposal.id] : []))[0])

const conversationOf = (lines: readonly AnswerLine[]): string => {
  const last = lines.at(-1)
  return last?.type === 'done' ? last.conversationId : ''
}

describe('a conversation', () => {
  test('answers with what the operations say', async () => {
    const { client, agent, say } = await anOwnerWhoTalks()
    await anIntent(client, agent.id, { amountEuros: 20, merchant: 'Bookshop' })
    await anIntent(client, agent.id, { amountEuros: 2, merchant: 'Casino' })
    expect(textIn(await say('What is waiting?'))).toMatch(/€ 20.00 to Bookshop/)
    const why = await say('Why was the last one refused?')
    expect(textIn(why)).toMatch(/Casino[\s\S]*To get it approved/)
    expect(why.filter(({ type }) => type === 'tool_call')).toMatchObject([
      { operation: 'agents.list' },
      { operation: 'intents.list', input: { status: 'denied' } },
      { operation: 'intents.explanation' },
    ])
    expect(textIn(await say('How much did Reader spend this month?'))).toMatch(/Reader: € 0.00/)
    expect(textIn(await say('Show me the weather'))).toMatch(
      /did not understand[\s\S]*docs\/guides\/assistants/,
    )
  })

  test.each([
    'What is waiting?',
    'What did Reader spend in October?',
    'How much did we spend at bookshop.example?',
    'Which agent spent most this month?',
    'What is the balance of Reader?',
    'Show me all balances',
    'What is left for Reader?',
    'budgets',
    'what was refused',
    'show me the last 5 payments',
    'Find the payment to bookshop.example',
    'What did Reader buy in October?',
    'help',
  ])('asks operations that answer: %s', async sentence => {
    const { say } = await anOwnerWhoTalks()
    const lines = await say(sentence)
    expect(
      lines.filter(line => line.type === 'error' || (line.type === 'tool_result' && line.isError)),
    ).toEqual([])
    expect(textIn(lines)).toMatch(/\w/)
    expect(textIn(lines)).not.toMatch(/undefined|NaN|null|\[object/)
  })

  test('tightens a policy by a proposal, which is then applied', async () => {
    const { client, agent, say } = await anOwnerWhoTalks()
    const params = { agentId: agent.id }
    const lines = await say('Let Reader spend 20 € a day at bookshop.example')
    const id = proposalIn(lines)
    expect(await bodyOf(client.policies.effective({ params }))).toMatchObject({ dailyLimitEuros: 50 })
    const { changes } = await bodyOf(client.proposals.get({ params: { id } }))
    expect(changes).toEqual([
      { member: 'dailyLimitEuros', from: '50', to: '20' },
      { member: 'merchantAllowlist', from: '[]', to: '["bookshop.example"]' },
    ])
    await bodyOf(client.proposals.apply({ params: { id }, body: {} }))
    expect(await bodyOf(client.policies.effective({ params }))).toMatchObject({
      dailyLimitEuros: 20,
      merchantAllowlist: ['bookshop.example'],
      merchantBlocklist: ['Casino'],
      autoApproveLimitEuros: 5,
    })
  })

  test.each([
    ['Freeze Reader', 'agents.freeze'],
    ['Unfreeze Reader', 'agents.unfreeze'],
    ['Let Reader spend 5 € a month', 'policies.replace'],
    ['Issue a card for Reader', 'cards.create'],
    ['Approve it', 'intents.approve'],
    ['Deny the last one', 'intents.deny'],
  ])('proposes what would change something, and changes nothing: %s', async (sentence, operation) => {
    const { client, agent, say } = await anOwnerWhoTalks()
    await anIntent(client, agent.id, { amountEuros: 20, merchant: 'Bookshop' })
    const before = await bodyOf(client.agents.list())
    const id = proposalIn(await say(sentence))
    expect(await bodyOf(client.proposals.get({ params: { id } }))).toMatchObject({
      operation,
      status: 'open',
    })
    expect(await bodyOf(client.agents.list())).toEqual(before)
    expect((await bodyOf(client.intents.list({ query: { status: 'created' } }))).data).toHaveLength(1)
  })

  test('keeps to the rights of who talks', async () => {
    const { client, agent } = await anOwnerWhoTalks()
    const [{ key }, { token }] = await Promise.all([
      aKey(client, { scopes: ['canvas:read', 'agents:read'] }),
      aToken(client, agent.id),
    ])
    const lines = await talkingWith(String(key))('What is waiting?')
    expect(textIn(lines)).toMatch(/intents:read/)
    expect((await talkingWith(String(key))('Freeze Reader')).some(({ type }) => type === 'error')).toBe(true)
    await aFundedAgent(client, { name: 'Other' })
    const asAgent = talkingWith(String(token))
    expect(textIn(await asAgent('budgets'))).not.toContain('Other')
    expect(textIn(await asAgent('Freeze Other'))).toMatch(/no agent called other/)
  })

  test.each(['Raise my daily limit to 80 €', 'Let me spend 80 € a day'])(
    'asks for the agent whose token says: %s',
    async sentence => {
      const { client, agent } = await anOwnerWhoTalks()
      await aFundedAgent(client, { name: 'Other' })
      const { token } = await aToken(client, agent.id)
      const id = proposalIn(await talkingWith(String(token))(sentence))
      expect(await bodyOf(client.proposals.get({ params: { id } }))).toMatchObject({
        operation: 'policies.replace',
        agentId: agent.id,
        changes: [{ member: 'dailyLimitEuros', from: '50', to: '80' }],
      })
    },
  )

  test('asks an agent which of its limits is to be raised, and an owner which agent', async () => {
    const { client, agent, say } = await anOwnerWhoTalks()
    await aFundedAgent(client, { name: 'Other' })
    const { token } = await aToken(client, agent.id)
    expect(textIn(await talkingWith(String(token))('Raise my limit'))).toMatch(
      /daily limit, a monthly limit, or a limit per payment of Reader/,
    )
    expect(textIn(await say('Raise my limit'))).toMatch(/Which agent do you mean/)
  })

  test('fires an event for each message and for each answer, without what was said', async () => {
    const { client, say } = await anOwnerWhoTalks()
    const conversationId = conversationOf(await say('What is waiting?'))
    const [turn] = (await bodyOf(client.canvas.get({ params: { id: conversationId } }))).turns
    const emitted = async (event: string) =>
      (await bodyOf(client.events.list({ query: { event } }))).data.map(({ data }) => data)
    const data = { conversationId, turnId: turn?.id, agentId: null }
    expect(await emitted('canvas.message_sent')).toEqual([data])
    expect(await emitted('canvas.message_answered')).toEqual([data])
  })

  test('can be read again by who has talked, and deleted; no one else sees it', async () => {
    const { client, key, say } = await anOwnerWhoTalks()
    const conversationId = conversationOf(await say('What is waiting?'))
    expect(conversationOf(await say('budgets', conversationId))).toBe(conversationId)
    const params = { id: conversationId }
    const { turns, title } = await bodyOf(client.canvas.get({ params }))
    expect([title, turns.map(({ message }) => message)]).toEqual([
      'What is waiting?',
      ['What is waiting?', 'budgets'],
    ])
    expect(turns[0]?.lines?.at(-1)).toEqual({ type: 'done', conversationId })
    const { key: other } = await aKey(client)
    const stranger = service.client(String(other))
    expect((await stranger.canvas.get({ params })).status).toBe(404)
    expect((await stranger.canvas.delete({ params })).status).toBe(404)
    const foreign = await service.http('POST', '/canvas/messages', {
      token: String(other),
      body: { message: 'help', conversationId },
    })
    expect(foreign.status).toBe(404)
    expect((await service.client(key).canvas.delete({ params })).status).toBe(204)
    expect((await bodyOf(client.canvas.list())).data).toEqual([])
    const { data } = await bodyOf(client.events.list({ query: { event: 'canvas.conversation_deleted' } }))
    expect(data).toMatchObject([{ data: { conversationId } }])
  })

  test('says plainly that nothing waits', async () => {
    const { say } = await anOwnerWhoTalks()
    expect(textIn(await say('What is waiting?'))).toBe('Nothing is waiting for approval.')
  })

  test('whose reader goes away in the middle can be read', async () => {
    const { client, key } = await anOwnerWhoTalks()
    const leaving = new AbortController()
    const answer = await fetch(new URL('/canvas/messages', service.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'What is waiting?' }),
      signal: leaving.signal,
    })
    await answer.body?.getReader().read()
    leaving.abort()
    const [conversation] = (await bodyOf(client.canvas.list())).data
    const { turns } = await bodyOf(client.canvas.get({ params: { id: String(conversation?.id) } }))
    expect(turns).toMatchObject([{ message: 'What is waiting?' }])
  })

  test('has an answer to any sentence, in any language', async () => {
    const { say } = await anOwnerWhoTalks()
    for (const lines of await Promise.all(unknown.map(sentence => say(sentence))))
      expect([textIn(lines), lines.some(({ type }) => type === 'error')]).toEqual([
        expect.stringMatching(/did not understand/),
        false,
      ])
  })

  test('lets no number of a card leave', async () => {
    const { client, say } = await anOwnerWhoTalks()
    const { id } = await aFundedAgent(client)
    await service.sql('update agents set name = $2 where id = $1', [id, 'Card 4242 4242 4242 4242'])
    expect(JSON.stringify(await say('budgets'))).not.toContain('4242 4242 4242 4242')
    await say('My card is 5555 5555 5555 4444, keep it')
    const kept = await service.sql('select message from conversation_turns where message like $1', [
      '%My card is%',
    ])
    expect(JSON.stringify(kept)).toMatch(/[*]{4} [*]{4} [*]{4} 4444/)
  })

  test.each([
    ['', 'invalid_request'],
    ['   ', 'invalid_request'],
    ['x'.repeat(10_001), 'invalid_request'],
  ])('refuses a message that is none: %j', async (message, code) => {
    const { key } = await service.owner()
    const answer = await service.http('POST', '/canvas/messages', { token: key, body: { message } })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, code])
  })
})
