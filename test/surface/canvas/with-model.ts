import { expect } from '@jest/globals'
import type { AnswerLine } from '../../../src/surface/canvas/lines.ts'
import { startReceiver } from '../../support/delivery/receiver.ts'
import { aFundedAgent, aPolicy } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

export const server = await startReceiver()
export const service = await startTestService({
  env: {
    CANVAS_MODEL_URL: `${server.url}/v1`,
    CANVAS_MODEL: 'test-model',
    CANVAS_MODEL_KEY: 'model-key-of-the-test',
    OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
  },
})

export const PATH = '/v1/chat/completions'
/** Beyond the grammar. */
export const QUESTION = 'Tell me a story about my agents'

export interface Answer {
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

/**
 * Starts a model server that answers by a script and repeats its last answer; returns the lines of the
 * conversation.
 */
export async function talk(
  key: string,
  script: readonly (Answer | string)[],
  message = QUESTION,
  conversationId?: string,
): Promise<AnswerLine[]> {
  const before = server.at(PATH).length
  server.treat(PATH, (response, n) => {
    const answer = script[Math.min(n - before, script.length - 1)] ?? ''
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(typeof answer === 'string' ? answer : answerOf(answer))
  })
  const { text } = await service.http('POST', '/canvas/messages', {
    token: key,
    body: { message, conversationId },
  })
  const lines: AnswerLine[] = text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
  expect(lines.map(({ type }) => type).indexOf('done')).toBe(lines.length - 1)
  return lines
}

export async function anOwner() {
  const { client, key } = await service.owner()
  const policy = await aPolicy(client, { dailyLimitEuros: 50 })
  const agent = await aFundedAgent(client, { name: 'Reader', policyId: policy.id })
  return { client, key, agent }
}

export const conversationOf = (lines: readonly AnswerLine[]): string => {
  const last = lines.at(-1)
  return last?.type === 'done' ? last.conversationId : ''
}

interface Told {
  readonly role: string
  readonly content: string
}

/** The last messages that the model received. */
export const told = (): readonly Told[] => JSON.parse(server.at(PATH).at(-1)?.body ?? '').messages

/** The earlier turns that the model received, and the message after them. */
export function toldBefore() {
  const [earlier = '', message] = (told().at(-1)?.content ?? '').split('\n\nThe message:\n')
  return { earlier: JSON.parse(earlier).data.earlier as { asked: string; answered: string }[], message }
}
