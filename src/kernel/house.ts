import type { Areas, Reaction } from './area.ts'
import type { Database } from './database.ts'
import type { Cursors } from './page.ts'
import type { Ports } from './ports.ts'

/** What running an operation takes; made once, in `bin`. */
export interface House {
  readonly database: Database
  readonly ports: Ports
  readonly cursors: Cursors
  readonly reactions: ReadonlyMap<string, readonly Reaction[]>
  /** Work for Temporal has been committed: the relay need not wait for its next round. */
  readonly onOutbox: () => void
  /** Somebody wants to hear of an event that has been committed. */
  readonly onDeliveries: () => void
  /** Told how many requests a group commit took, and in how many round trips. */
  readonly onBatch: (operation: string, size: number, roundTrips: number) => void
}

export function reactionsOf(areas: Areas): Map<string, Reaction[]> {
  const reactions = new Map<string, Reaction[]>()
  for (const area of Object.values(areas))
    for (const [event, reaction] of Object.entries(area.reactions))
      reactions.set(event, [...(reactions.get(event) ?? []), reaction])
  return reactions
}
