import { describe, expect, test } from '@jest/globals'
import type { AnswerLine } from '../../../src/surface/canvas/lines.ts'
import { aFundedAgent, bodyOf } from '../../support/factories.ts'
import { type Answer, anOwner, conversationOf, PATH, QUESTION, server, service, talk } from './with-model.ts'

const textsIn = (lines: readonly AnswerLine[]) =>
  lines.flatMap(line => (line.type === 'text' ? [line.text] : []))
const errorsIn = (lines: readonly AnswerLine[]) =>
  lines.flatMap(line => (line.type === 'error' ? [line.code] : []))

describe('a language model', () => {
  test('that is honest asks tools and answers by what they give', async () => {
    const { key, agent } = await anOwner()
    const lines = await talk(key, [
      { calls: [['call_operation', { operation: 'agents.get', input: { id: agent.id } }]] },
      { text: 'Once upon a time there was Reader.' },
    ])
    expect([textsIn(lines), errorsIn(lines)]).toEqual([['Once upon a time there was Reader.'], []])
    expect(lines).toContainEqual(
      expect.objectContaining({ type: 'tool_result', operation: 'agents.get', isError: false }),
    )
    const sent = server.at(PATH).at(-1)
    expect(sent?.headers.authorization).toBe('Bearer model-key-of-the-test')
    const { model, messages } = JSON.parse(sent?.body ?? '')
    expect(model).toBe('test-model')
    expect(messages.at(-1).role).toBe('tool')
    expect(JSON.parse(messages.at(-1).content).data).toMatchObject({ id: agent.id })
  })

  test('is not used for sentences of the grammar', async () => {
    const { key } = await anOwner()
    const before = server.at(PATH).length
    await talk(key, [{ text: 'No' }], 'What is waiting?')
    expect(server.at(PATH)).toHaveLength(before)
  })

  test('that is malicious can do no more than propose', async () => {
    const { client, key, agent } = await anOwner()
    const { id: policyId } = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    const lines = await talk(key, [
      {
        calls: [
          ['call_operation', { operation: 'policies.replace', input: { id: policyId, name: 'Mine' } }],
          ['declare_intent', { agentId: agent.id, amountEuros: 1, merchant: 'Evil', purpose: 'All of it' }],
          ['call_operation', { operation: 'keys.create', input: { name: 'K', environment: 'sandbox' } }],
          [
            'call_operation',
            { operation: 'proposals.apply', input: { id: 'proposal_01jd8x2m4ye7k9v0c3q5r6t8wz' } },
          ],
          ['approve_everything', {}],
        ],
      },
      { text: 'I have approved everything.' },
    ])
    expect(lines.filter(({ type }) => type === 'proposal')).toHaveLength(2)
    expect(await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))).toMatchObject({
      dailyLimitEuros: 50,
    })
    expect((await bodyOf(client.intents.list())).data).toEqual([])
  })

  test('is sent no number of a card, and none of its leaves', async () => {
    const { client, key } = await anOwner()
    const { id } = await aFundedAgent(client)
    await service.sql('update agents set name = $2 where id = $1', [id, 'Card 4242 4242 4242 4242'])
    const lines = await talk(
      key,
      [
        { calls: [['call_operation', { operation: 'agents.get', input: { id } }]] },
        { text: 'It is 5555 5555 5555 4444.' },
      ],
      'Remember 4242 4242 4242 4242 for me',
    )
    expect(JSON.stringify(lines)).not.toMatch(/4242 4242 4242 4242|5555 5555 5555 4444/)
    for (const { body } of server.at(PATH)) expect(body).not.toContain('4242 4242 4242 4242')
  })

  test.each<[string, readonly (Answer | string)[], string]>([
    ['answers no JSON', ['<html>'], 'model_failed'],
    ['answers other JSON', ['{"choices":[]}'], 'model_failed'],
    ['answers without an end', ['x'.repeat(400_000)], 'model_failed'],
    [
      'nests its arguments ten thousand levels deep',
      [{ calls: [['call_operation', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`]] }],
      'model_failed',
    ],
    ['goes in a circle', [{ calls: [['call_operation', { operation: 'agents.list' }]] }], 'model_stopped'],
    [
      'asks too much at once',
      [
        {
          calls: Array.from(
            { length: 30 },
            (_, n) => ['search_operations', { query: `agents ${n}` }] as const,
          ),
        },
        { calls: [['search_operations', { query: 'cards' }]] },
      ],
      'model_stopped',
    ],
  ])('that %s is an error line, and then the end', async (_, script, code) => {
    const { key } = await anOwner()
    expect(errorsIn(await talk(key, script))).toEqual([code])
  })

  test.each<[string, Answer]>([
    ['invents a tool', { calls: [['no_such_tool', {}]] }],
    ['writes arguments that are none', { calls: [['call_operation', 'no json']] }],
    ['names no operation', { calls: [['call_operation', { operation: 7 }]] }],
    ['names what is no text', { calls: [['call_operation', '{"operation":{"toString":1}}']] }],
    ['asks for what is no text', { calls: [['search_operations', '{"query":{"toString":1}}']] }],
    [
      'writes what no database keeps',
      { calls: [['call_operation', '{"operation":"agents.list","input":{"a":"\\u0000"}}']] },
    ],
  ])('a model that %s gets an error, and continues', async (_, first) => {
    const { key } = await anOwner()
    expect(textsIn(await talk(key, [first, { text: 'Then I do not know.' }]))).toEqual([
      'Then I do not know.',
    ])
  })

  test('whose text has no characters is kept without them', async () => {
    const { client, key } = await anOwner()
    const lines = await talk(key, [{ text: 'half \ud83d and \0 nothing' }])
    expect(textsIn(lines)).toEqual(['half \ufffd and  nothing'])
    const { turns } = await bodyOf(client.canvas.get({ params: { id: conversationOf(lines) } }))
    expect(turns[0]?.lines?.at(-1)).toEqual({ type: 'done', conversationId: conversationOf(lines) })
  })

  test('that refuses is an error line', async () => {
    const { key } = await anOwner()
    server.treat(PATH, response => void response.writeHead(500).end())
    const { text } = await service.http('POST', '/canvas/messages', {
      token: key,
      body: { message: QUESTION },
    })
    expect(text).toMatch(/"code":"model_failed"[\s\S]*"type":"done"/)
  })
})
