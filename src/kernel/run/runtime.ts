import type { Areas, Reaction } from '../contract/area.ts'
import type { ApiCall, ApiResponse } from '../contract/call.ts'
import type { RunForOwner } from '../contract/context.ts'
import type { AnyOperation } from '../contract/operation.ts'
import type { PageCursors } from '../contract/page.ts'
import type { Ports } from '../contract/ports.ts'
import type { Sql } from '../contract/sql.ts'
import type { Database } from '../database/prepared-sql.ts'
import type { ProcessLease } from '../database/process-lease.ts'
import type { Replica } from '../database/replica.ts'
import type { EventRow, NewRowCounts, PendingJournal } from '../journal/journal.ts'
import { type Notify, notifyChannels } from '../journal/outbox.ts'
import type { UnrecordedAnswers } from './unrecorded-answers.ts'

/** Calls an operation on behalf of another one's caller. Handlers see it as `Ask`, typed and bound to their request. */
export type CallOperationFor = (
  caller: Pick<ApiCall, 'actor' | 'requestId' | 'address' | 'now' | 'hasTurn'>,
  operation: AnyOperation,
  question?: {
    readonly params?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, unknown>>
    readonly body?: object
  },
) => Promise<unknown>

export interface CostlyReader {
  /** Answers a read in another thread; undefined if it has to run here. */
  read(call: ApiCall): Promise<ApiResponse | undefined>
}

export interface JoinedTransaction {
  readonly sql: Sql
  readonly journal: PendingJournal
  /** Statements whose results are not needed: they are sent with the journal and the commit. */
  readonly pendingStatements: Promise<unknown>[]
}

export interface OperationRuntime {
  readonly database: Database
  /** Undefined if `DATABASE_REPLICA_URL` is not set. */
  readonly replica: Replica | undefined
  /** Undefined where all reads run in this thread. */
  readonly reader: CostlyReader | undefined
  readonly ports: Ports
  readonly callOperationFor: CallOperationFor
  readonly runForOwnerIn: (tx: JoinedTransaction) => RunForOwner
  readonly cursors: PageCursors
  readonly lease: ProcessLease
  readonly unrecordedAnswers: UnrecordedAnswers
  readonly reactions: ReadonlyMap<string, readonly Reaction[]>
  /** Called after each commit, so that background work need not wait for the next poll. */
  readonly notify: Notify
  readonly onEvents: (events: readonly EventRow[]) => void
  readonly onBatch: (operation: string, size: number, roundTrips: number) => void
}

/** Called after the commit: a NOTIFY inside transactions serializes their commits. */
export function notifyListeners(
  { notify, onEvents }: OperationRuntime,
  { events }: PendingJournal,
  written: NewRowCounts,
): void {
  onEvents(events)
  const named = notifyChannels.filter(channel => written[channel] > 0)
  notify(events.length > 0 ? [...named, 'journal'] : named)
}

export function reactionsByEvent(areas: Areas): Map<string, Reaction[]> {
  const reactions = new Map<string, Reaction[]>()
  for (const area of Object.values(areas))
    for (const [event, reaction] of Object.entries(area.reactions))
      reactions.set(event, [...(reactions.get(event) ?? []), reaction])
  return reactions
}
