import { describe, expect, test } from '@jest/globals'
import type { AnswerLine } from '../../../src/surface/canvas/lines.ts'
import { startReceiver } from '../../support/delivery/receiver.ts'
import { anAgent, bodyOf } from '../../support/factories.ts'
import { killableApi } from '../../support/processes/killable-api.ts'

const PATH = '/v1/chat/completions'
const model = await startReceiver()
const QUESTION = 'Tell me a story about my agents'

async function ask(url: string, key: string, body: object, lines: AnswerLine[]): Promise<void> {
  const answer = await fetch(`${url}/canvas/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  let rest = ''
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const all = (rest + piece).split('\n')
    rest = all.pop() ?? ''
    lines.push(...all.map(line => JSON.parse(line) as AnswerLine))
  }
}

const saying = (text: string, calls: readonly object[] = []) =>
  JSON.stringify({ choices: [{ message: { content: text, tool_calls: calls } }] })

describe('a conversation whose process is killed by SIGKILL between two lines', () => {
  test('has the message and whole proposals, ends before `done`, and can be continued', async () => {
    const api = await killableApi({
      CANVAS_MODEL_URL: `${model.url}/v1`,
      CANVAS_MODEL: 'test-model',
      OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
    })
    const key = await api.owner()
    const agent = await anAgent(api.client(key), { name: 'Reader' })
    const freeze = JSON.stringify({ operation: 'agents.freeze', input: { id: agent.id } })
    const call = { id: 'call_1', type: 'function', function: { name: 'call_operation', arguments: freeze } }
    // The model never answers its second question: the process dies there.
    model.treat(PATH, (response, n) => void (n === 0 && response.end(saying('I propose it.', [call]))))

    const told: AnswerLine[] = []
    await api.killDuring(
      () => ask(api.url(), key, { message: QUESTION }, told),
      () => model.at(PATH).length === 2 && told.some(({ type }) => type === 'proposal'),
    )

    expect(told.map(({ type }) => type)).not.toContain('done')
    const client = api.client(key)
    const [conversation] = (await bodyOf(client.canvas.list())).data
    const params = { id: String(conversation?.id) }
    expect((await bodyOf(client.canvas.get({ params }))).turns).toMatchObject([
      { message: QUESTION, lines: null },
    ])
    const [proposal] = (await bodyOf(client.proposals.list())).data
    expect(told).toContainEqual({ type: 'proposal', proposal: expect.objectContaining({ id: proposal?.id }) })
    expect((await bodyOf(client.agents.get({ params: { id: agent.id } }))).status).toBe('active')
    await bodyOf(client.proposals.apply({ params: { id: String(proposal?.id) }, body: {} }))
    expect((await bodyOf(client.agents.get({ params: { id: agent.id } }))).status).toBe('frozen')

    model.treat(PATH, response => void response.end(saying('Reader is frozen.')))
    const after: AnswerLine[] = []
    await ask(api.url(), key, { message: 'And then?', conversationId: params.id }, after)
    expect(after.at(-1)).toEqual({ type: 'done', conversationId: params.id })
    const { messages } = JSON.parse(model.at(PATH).at(-1)?.body ?? '')
    expect(messages.at(-1).content).toContain(
      JSON.stringify({ data: { earlier: [{ asked: QUESTION, answered: null }] } }),
    )
    expect((await bodyOf(client.canvas.get({ params }))).turns).toHaveLength(2)
    await api.stop()
  })
})
