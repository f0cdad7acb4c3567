import type { Mode, Tenant } from './actor.ts'

/**
 * A place in the journal, in the order of its commits: by the transaction that wrote an event, then by the event's id. The
 * ids alone are no such order, as they are made before the commit.
 */
export interface Position {
  readonly writtenIn: bigint
  readonly id: string
}

/** An event as followers get it, with its place. */
export interface FollowedEvent extends Position {
  readonly ownerId: string
  readonly mode: Mode
  readonly agentId: string | null
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
  readonly requestId: string
  readonly runId: string | null
  readonly createdAt: Date
}

export interface FollowWish {
  readonly tenant: Tenant
  /** Everything after it is given; undefined for what is committed from now on. */
  readonly from: Position | undefined
  readonly isWanted: (event: FollowedEvent) => boolean
  /** Ends the following. */
  readonly ending: AbortSignal
}

/** The events as they come, several at once where several have come; none for a time of silence. */
export type FollowedEvents = AsyncIterable<readonly FollowedEvent[]>

/** Streams of events: undefined where the owner has as many as it may have, in all processes together. */
export type OpenEventStream = (wish: FollowWish) => Promise<FollowedEvents | undefined>

/** Events for as long as one request waits: undefined where as many requests of the process wait as may. */
export type WaitForEvents = (wish: FollowWish) => Promise<FollowedEvents | undefined>

/** How many streams an owner may have at once. */
export const MOST_STREAMS = 20

/** How many requests of a process may wait for an event at once. */
export const MOST_WAITING = 1_000
