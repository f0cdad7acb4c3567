import { z } from 'zod'
import type { ByteStream, File } from '../../kernel/contract/file.ts'
import { EVENT_STREAM } from '../../kernel/contract/file.ts'
import type { FollowedEvent, FollowedEvents } from '../../kernel/contract/follow.ts'
import { EventRecord } from './api.ts'

/** Sent at once, so that the client sees the stream open: when it should come again after a break, in milliseconds. */
const BEGINNING = 'retry: 1000\n\n'
/** Comments keep proxies from taking the silence for the end. */
const STILL_THERE = ': nothing new\n\n'

/** The bytes of an event are made once for all streams of the process. */
const made = new WeakMap<FollowedEvent, Buffer>()

function bytesOf(event: FollowedEvent): Buffer {
  const known = made.get(event)
  if (known !== undefined) return known
  const data = JSON.stringify(z.encode(EventRecord, event as z.output<typeof EventRecord>))
  const bytes = Buffer.from(`id: ${event.id}\ndata: ${data}\n\n`)
  made.set(event, bytes)
  return bytes
}

/** What several streams send at once, most of them the same, by the first of these events. */
const sent = new WeakMap<
  FollowedEvent,
  { readonly events: readonly FollowedEvent[]; readonly bytes: Buffer }
>()

function bytesOfAll(events: readonly FollowedEvent[]): Buffer {
  const [first] = events
  if (!first || events.length === 1) return Buffer.concat(events.map(bytesOf))
  const known = sent.get(first)
  if (known?.events.length === events.length && known.events.every((event, n) => event === events[n]))
    return known.bytes
  const bytes = Buffer.concat(events.map(bytesOf))
  sent.set(first, { events, bytes })
  return bytes
}

async function* piecesOf(events: FollowedEvents): ByteStream {
  yield BEGINNING
  for await (const some of events) yield some.length === 0 ? STILL_THERE : bytesOfAll(some)
}

/** Server-sent events: each as it is read at its address, with its id, by which a client resumes. */
export const streamed = (events: FollowedEvents): File => ({
  type: `${EVENT_STREAM}; charset=utf-8`,
  content: piecesOf(events),
})
