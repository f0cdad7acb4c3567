import { NoAnswer } from '../../derive/retry.ts'
import { serverSentEvents } from '../../values/server-sent-events.ts'
import { Refused } from './refused.ts'
import { pause, type Reply } from './send.ts'

const AGAIN_AFTER_MS = 1_000

/** Temporary refusals during a restart: the service is busy, or has not noticed yet that the old stream is gone. */
const TEMPORARY_CODES = new Set(['busy', 'overloaded', 'rate_limited', 'unavailable', 'too_many_streams'])

export const isTemporary = (error: unknown): boolean =>
  error instanceof NoAnswer || (error instanceof Refused && TEMPORARY_CODES.has(error.code))

export interface StreamMeans {
  open(last: string | undefined): Promise<Reply>
  /** The id of the newest record: later ones are not missed, even before the first connection. */
  newestId(): Promise<string | undefined>
  readonly signal: AbortSignal | undefined
}

/** A broken connection is opened again after the last record, so that none is missing. */
export async function* follow(means: StreamMeans): AsyncGenerator<unknown, void> {
  let last = await means.newestId()
  let reply: Reply | undefined = await means.open(last)
  for (;;) {
    for await (const { id, data } of reply ? messagesIn(reply, means.signal) : []) {
      last = id
      yield JSON.parse(data)
    }
    await pause(AGAIN_AFTER_MS, means.signal)
    reply = await openAgain(means, last)
  }
}

async function* messagesIn({ response: { body } }: Reply, signal: AbortSignal | undefined) {
  if (!body) return
  try {
    yield* serverSentEvents(piecesOf(body))
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    if (!(error instanceof TypeError) && (error as Error).name !== 'AbortError') throw error
  }
}

/** Some browsers cannot iterate over a stream. */
export async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

async function openAgain({ open }: StreamMeans, last: string | undefined): Promise<Reply | undefined> {
  try {
    return await open(last)
  } catch (error) {
    if (isTemporary(error)) return undefined
    throw error
  }
}
