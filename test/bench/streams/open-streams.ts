import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { bearer, type Stage } from '../stage.ts'

export interface OpenStreams {
  /** The events received by the slowest stream. */
  fewest(): number
  close(): void
}

/** Streams that only count their events, as the reader shares the processors with the API. */
export async function openStreams(stage: Pick<Stage, 'api' | 'token'>, count: number): Promise<OpenStreams> {
  const streams = await Promise.all(Array.from({ length: count }, () => openOne(stage)))
  return {
    fewest: () => Math.min(...streams.map(({ count }) => count())),
    close: () => streams.forEach(({ close }) => void close()),
  }
}

async function openOne({ api, token }: Pick<Stage, 'api' | 'token'>) {
  const sent = request(`${api.url}/events/stream`, { agent: false, headers: bearer({ token }) }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  if (answer.statusCode !== 200) throw new Error(`the stream was answered with ${answer.statusCode}`)
  // The first message is the reconnection time.
  let messages = -1
  let last = Buffer.alloc(0)
  answer.on('data', (piece: Buffer) => {
    const bytes = Buffer.concat([last, piece])
    messages += messagesIn(bytes)
    last = bytes.subarray(-1)
  })
  answer.on('error', () => undefined)
  return { count: () => messages, close: () => sent.destroy() }
}

/** Each message ends with an empty line. */
function messagesIn(bytes: Buffer): number {
  let found = 0
  for (let at = bytes.indexOf('\n\n'); at !== -1; at = bytes.indexOf('\n\n', at + 2)) found++
  return found
}
