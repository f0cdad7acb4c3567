import type { Areas, Reaction } from '../contract/area.ts'
import type { Cursors } from '../contract/page.ts'
import type { Ports } from '../contract/ports.ts'
import type { Database } from '../database/prepared-sql.ts'
import type { EventRow, Journal, Written } from '../journal/journal.ts'
import { type Channel, channels } from '../journal/outbox.ts'

/** What running an operation takes; made once, in `bin`. */
export interface Runtime {
  readonly database: Database
  readonly ports: Ports
  readonly cursors: Cursors
  readonly reactions: ReadonlyMap<string, readonly Reaction[]>
  /** There is something to do that has been committed: whoever does it need not wait for his next round. */
  readonly announcers: Readonly<Record<Channel, () => void>>
  /** Told what a transaction has written, when it is committed. */
  readonly onEvents: (events: readonly EventRow[]) => void
  /** Told how many requests a group commit took, and in how many round trips. */
  readonly onBatch: (operation: string, size: number, roundTrips: number) => void
}

/** After the commit: within it a notice would make all commits wait for one another. */
export function announce({ announcers, onEvents }: Runtime, { events }: Journal, written: Written): void {
  onEvents(events)
  for (const channel of channels) if (written[channel] > 0) announcers[channel]()
}

export function reactionsOf(areas: Areas): Map<string, Reaction[]> {
  const reactions = new Map<string, Reaction[]>()
  for (const area of Object.values(areas))
    for (const [event, reaction] of Object.entries(area.reactions))
      reactions.set(event, [...(reactions.get(event) ?? []), reaction])
  return reactions
}
