import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import type { TestClient } from '../../support/factories.ts'

interface Arguments {
  readonly seconds?: number
  readonly label?: string
}

/** What a person does about the intent that a tool of the suite has declared. */
type Person = (client: TestClient, id: string, given: Arguments) => Promise<unknown>

/** The suite cancels what takes longer. */
const LONG_SECONDS = 10

const approve = (client: TestClient, id: string) => client.intents.approve({ params: { id }, body: {} })

/** What the suite sees of it is checked by the suite: it may have cancelled the task before. */
const waiting: Readonly<Record<string, Person>> = {
  async slow_compute(client, id, { seconds = 0 }) {
    if (seconds === 0) await approve(client, id)
    else if (seconds < LONG_SECONDS) setTimeout(() => void approve(client, id), seconds * 1_000)
  },
  confirm_delete: approve,
  failing_job: (client, id) => client.intents.deny({ params: { id }, body: { reason: 'It always fails' } }),
}

const SYNC = 'greet'

const nameOf = ({ headers }: IncomingMessage): string => String(headers['mcp-name'])

export const isOfSuite = (asked: IncomingMessage): boolean =>
  nameOf(asked) === SYNC || nameOf(asked) in waiting

const declaration = ({ label = 'A job' }: Arguments) => ({
  name: 'declare_intent',
  arguments: { amountEuros: 2, merchant: 'Bookshop', purpose: label, idempotencyKey: randomUUID() },
})

/** Calls tools of the service where the suite calls its own: one that answers at once, and those that wait for a person. */
export const ownTools =
  ({ url, token, client }: { readonly url: string; readonly token: string; readonly client: TestClient }) =>
  async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const name = nameOf(asked)
    // biome-ignore lint/suspicious/noExplicitAny: the suite writes the messages
    const message = (await json(asked)) as any
    const given: Arguments = message.params?.arguments ?? {}
    const own = name === SYNC ? { name: 'get_balance', arguments: {} } : declaration(given)
    const { host: _, connection: __, 'content-length': ___, ...headers } = asked.headers
    const sent = Object.entries({ ...headers, 'mcp-name': own.name, authorization: `Bearer ${token}` })
    const answered = await fetch(new URL('/mcp', url), {
      method: 'POST',
      headers: sent.map(([header, value]): [string, string] => [header, String(value)]),
      body: JSON.stringify({ ...message, params: { ...message.params, ...own } }),
    })
    const text = await answered.text()
    const { result } = JSON.parse(text)
    if (result?.taskId) await waiting[name]?.(client, result.taskId, given)
    answer.writeHead(answered.status, { 'content-type': answered.headers.get('content-type') ?? '' })
    answer.end(text)
  }
