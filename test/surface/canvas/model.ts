import { describe, expect, test } from '@jest/globals'
import type { Line } from '../../../src/surface/canvas/lines.ts'
import { startReceiver } from '../../support/delivery/receiver.ts'
import { aFundedAgent, aPolicy, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const server = await startReceiver()
const service = await startTestService({
  env: {
    CANVAS_MODEL_URL: `${server.url}/v1`,
    CANVAS_MODEL: 'test-model',
    CANVAS_MODEL_KEY: 'model-key-of-the-test',
    OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
  },
})

const PATH = '/v1/chat/completions'
/** The grammar does not know it. */
const QUESTION = 'Tell me a story about my agents'

interface Answer {
  readonly text?: string
  readonly calls?: readonly (readonly [name: string, given: object | string])[]
}

const answerOf = ({ text = '', calls = [] }: Answer): string =>
  JSON.stringify({
    choices: [
      {
        message: {
          content: text,
          tool_calls: calls.map(([name, given], n) => ({
            id: `call_${n}`,
            type: 'function',
            function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) },
          })),
        },
      },
    ],
    usage: { total_tokens: 100 },
  })

/** A server that answers by a script, the last of it again and again; gives the lines of the conversation. */
async function talk(key: string, script: readonly (Answer | string)[], message = QUESTION): Promise<Line[]> {
  const before = server.at(PATH).length
  server.treat(PATH, (response, n) => {
    const answer = script[Math.min(n - before, script.length - 1)] ?? ''
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(typeof answer === 'string' ? answer : answerOf(answer))
  })
  const { text } = await service.http('POST', '/canvas/messages', { token: key, body: { message } })
  const lines: Line[] = text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
  expect(lines.map(({ type }) => type).indexOf('done')).toBe(lines.length - 1)
  return lines
}

async function anOwner() {
  const { client, key } = await service.owner()
  const policy = await aPolicy(client, { dailyLimitEuros: 50 })
  const agent = await aFundedAgent(client, { name: 'Reader', policyId: policy.id })
  return { client, key, agent }
}

const textsIn = (lines: readonly Line[]) => lines.flatMap(line => (line.type === 'text' ? [line.text] : []))
const errorsIn = (lines: readonly Line[]) => lines.flatMap(line => (line.type === 'error' ? [line.code] : []))

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

  test('is not asked what the grammar knows', async () => {
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
  ])('that %s is told so, and goes on', async (_, first) => {
    const { key } = await anOwner()
    expect(textsIn(await talk(key, [first, { text: 'Then I do not know.' }]))).toEqual([
      'Then I do not know.',
    ])
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
