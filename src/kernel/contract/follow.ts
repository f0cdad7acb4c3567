import { setTimeout as pause } from 'node:timers/promises'
import type { Mode, Tenant } from './actor.ts'

/**
 * A place in the journal, in the order of commits: by the transaction that wrote an event, then by the
 * event's id. Ids alone are no such order, as they are made before the commit.
 */
export interface JournalPosition {
  readonly writtenIn: bigint
  readonly id: string
}

export interface StreamedEvent extends JournalPosition {
  readonly ownerId: string
  readonly mode: Mode
  readonly agentId: string | null
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
  readonly requestId: string
  readonly runId: string | null
  readonly createdAt: Date
}

export interface EventFollowRequest {
  readonly tenant: Tenant
  /** Events after it are given; undefined: those committed from now on. */
  readonly from: JournalPosition | undefined
  readonly isWanted: (event: StreamedEvent) => boolean
  readonly ending: AbortSignal
}

/** Several events at once where several have arrived; an empty list is a heartbeat. */
export type StreamedEventBatches = AsyncIterable<readonly StreamedEvent[]>

/** Undefined where the owner has `MAX_EVENT_STREAMS` streams in all processes together. */
export type OpenEventStream = (wish: EventFollowRequest) => Promise<StreamedEventBatches | undefined>

/** Events while one request waits. Undefined where the process has `MAX_WAITING` such requests. */
export type WaitForEvents = (wish: EventFollowRequest) => Promise<StreamedEventBatches | undefined>

/**
 * Yields at once, and whenever something was committed that is waited for: what has changed must be read. Where too many
 * wait already, it yields each time the pause is over.
 */
export async function* changesAt(
  waitForEvents: WaitForEvents,
  wish: Omit<EventFollowRequest, 'from'>,
  lookEveryMs: number,
): AsyncGenerator<void> {
  const events = await waitForEvents({ ...wish, from: undefined })
  yield
  if (events) for await (const _ of events) yield
  else
    while (!wish.ending.aborted) {
      await pause(lookEveryMs, undefined, { signal: wish.ending }).catch(() => undefined)
      yield
    }
}

export const MAX_EVENT_STREAMS = 20

export const MAX_EVENT_WAITS = 1_000
