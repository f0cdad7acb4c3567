import { clock } from '../../values/clock.ts'
import type { ApiCall, ApiResponse } from '../contract/call.ts'
import { CallExternal, type HotExternalHandler } from '../contract/handlers.ts'
import {
  idempotencyAnswerRow,
  idempotencyReservationRow,
  type ScopedIdempotencyKey,
  type StoredAnswer,
} from '../journal/idempotency.ts'
import type { EventRow, OutboxRow, PendingJournal } from '../journal/journal.ts'
import { buildJournalRows, withTraceparent } from '../journal/journal-rows.ts'
import { encodeOutcome } from './outcome.ts'
import { RequestContext } from './request-context.ts'
import type { OperationRuntime } from './runtime.ts'
import type { Transaction } from './transaction.ts'

export type HandlerResult = ApiResponse | CallExternal<unknown>

/** The journal's outcome of a reservation: the answer comes later. */
const RESERVED: ApiResponse = { status: 202, body: null }

export interface EmittedRows {
  readonly events: readonly EventRow[]
  readonly outbox: readonly OutboxRow[]
}

export const hasEmitted = ({ events, outbox }: EmittedRows): boolean => events.length + outbox.length > 0

export function journalEvents(
  call: ApiCall,
  { events, outbox }: EmittedRows,
  done: HandlerResult,
  journal: PendingJournal,
): void {
  const outcome = done instanceof CallExternal ? RESERVED : done
  journal.events.push(...buildJournalRows(call, events, outcome))
  const rows = outbox.filter(({ workflowId }) => !isWaiting(call, workflowId))
  journal.outbox.push(...rows.map(row => withTraceparent(row, call.traceparent)))
}

/** A run that waits for this call's answer sees the change without a signal. */
const isWaiting = ({ waitingRun }: ApiCall, workflowId: string): boolean =>
  waitingRun?.workflowId === workflowId && clock.ticks() < waitingRun.until

export const toHandlerResult = ({ operation }: ApiCall, value: unknown): HandlerResult =>
  value instanceof CallExternal ? value : encodeOutcome(operation.operation, value)

type Repeating = HotExternalHandler<ApiCall['input'], unknown, string, Record<string, never>>

/** How the operation answers a repetition by its record; undefined where it does not. */
export const repeatOf = ({ operation }: ApiCall): Repeating['repeat'] =>
  (operation.handler as Partial<Repeating>).repeat

interface CallToFinish {
  readonly call: ApiCall
  readonly key: ScopedIdempotencyKey | null
  readonly stored?: StoredAnswer | undefined
  /** Decided without the answer of the other system, which may still come: this answer is kept, so that the late one finds it. */
  readonly isRecovered?: boolean
}

/** Nothing was done, and the caller is asked to repeat the request: it is decided anew, also under the same key. */
const isDecidedAnew = ({ isRecovered }: CallToFinish, { status }: ApiResponse): boolean =>
  (status === 429 || status === 503) && !isRecovered

/**
 * Completes the journal of a call: its events, and under its key the answer, or the reservation of the next
 * call. The answer is encoded before the commit: one that breaks its contract rolls back.
 */
export function finishCall(
  finished: CallToFinish,
  emitted: EmittedRows,
  value: unknown,
  journal: PendingJournal,
): HandlerResult {
  const { call, key, stored } = finished
  const done = toHandlerResult(call, value)
  journalEvents(call, emitted, done, journal)
  if (key)
    journal.idempotency.push(
      done instanceof CallExternal
        ? idempotencyReservationRow(key, done.reservation, call)
        : idempotencyAnswerRow(key, done, {
            isKept: !isDecidedAnew(finished, done),
            // A repetition finds the record by it.
            ...(repeatOf(call) && { reservation: stored?.reservation }),
          }),
    )
  return hasEmitted(emitted) && !(done instanceof CallExternal) ? { ...done, hasEmitted: true } : done
}

/** Runs the handler of one call in its transaction, with the reactions of other areas, and completes its journal. */
export async function runCallInTransaction(
  runtime: OperationRuntime,
  opened: CallToFinish,
  tx: Transaction,
  handle: (context: RequestContext) => unknown,
): Promise<HandlerResult> {
  const context = new RequestContext(runtime, opened.call, tx.now, tx)
  const value = await handle(context)
  await context.runReactions()
  await context.handOver()
  tx.pendingStatements.push(...context.pendingStatements)
  return finishCall(opened, context, value, tx.journal)
}

export function requireOutcome(done: HandlerResult): ApiResponse {
  if (done instanceof CallExternal) throw new Error('only an external operation calls another system')
  return done
}
