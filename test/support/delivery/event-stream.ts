import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { serverSentEvents } from '../../../src/values/server-sent-events.ts'
import { until } from '../until.ts'

// biome-ignore lint/suspicious/noExplicitAny: each test checks the events that it received
type Received = any

export interface EventStream {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly events: readonly Received[]
  readonly ids: readonly string[]
  readonly text: () => string
  /** Resolves when the service has ended the stream or the connection has broken. */
  readonly ended: Promise<'ended' | 'cut'>
  hasAll(ids: readonly string[]): Promise<void>
  close(): void
}

interface Options {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly lastEventId?: string | undefined
  readonly query?: string
}

export async function openStream(url: string, options: Options): Promise<EventStream> {
  const { token, headers, lastEventId, query = '' } = options
  const outgoing = request(`${url}/events/stream${query}`, {
    agent: false,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(lastEventId ? { 'last-event-id': lastEventId } : {}),
      ...headers,
    },
  }).end()
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  const events: Received[] = []
  const ids: string[] = []
  let text = ''
  answer.on('data', piece => {
    text += String(piece)
  })
  const ended = read(answer, events, ids)
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    events,
    ids,
    text: () => text,
    ended,
    hasAll: async wanted => {
      await until(`${wanted.length} events have come`, () => {
        const come = new Set(ids)
        return wanted.every(id => come.has(id))
      })
    },
    close: () => outgoing.destroy(),
  }
}

async function read(answer: IncomingMessage, events: Received[], ids: string[]): Promise<'ended' | 'cut'> {
  try {
    for await (const { id, data } of serverSentEvents(answer)) {
      ids.push(id)
      events.push(JSON.parse(data))
    }
    return 'ended'
  } catch {
    return 'cut'
  }
}
