import { clock } from '../../values/clock.ts'
import type { Call, Outcome } from '../contract/call.ts'
import { CallExternal } from '../contract/handlers.ts'
import { answerRow, reservationRow, type ScopedKey } from '../journal/idempotency.ts'
import type { EventRow, Journal, OutboxRow } from '../journal/journal.ts'
import { journalRowOf } from '../journal/journal-rows.ts'
import { outcomeOf } from './outcome.ts'
import { ignoreRejection, RequestContext } from './request-context.ts'
import type { Runtime } from './runtime.ts'
import type { Transaction } from './transaction.ts'

export type CallResult = Outcome | CallExternal<unknown>

/** The journal's outcome of a reservation: the answer comes later. */
const RESERVED: Outcome = { status: 202, body: null }

export interface Emitted {
  readonly events: readonly EventRow[]
  readonly outbox: readonly OutboxRow[]
}

export function journalEvents(
  call: Call,
  { events, outbox }: Emitted,
  done: CallResult,
  journal: Journal,
): void {
  const outcome = done instanceof CallExternal ? RESERVED : done
  journal.events.push(...events.map(event => journalRowOf(call, event, outcome)))
  journal.outbox.push(...outbox.filter(({ workflowId }) => !isWaiting(call, workflowId)))
}

/** A run that waits for this call's answer sees the change without a signal. */
const isWaiting = ({ waitingRun }: Call, workflowId: string): boolean =>
  waitingRun?.workflowId === workflowId && clock.ticks() < waitingRun.until

export const callResultOf = ({ operation }: Call, value: unknown): CallResult =>
  value instanceof CallExternal ? value : outcomeOf(operation.operation, value)

/**
 * Completes the journal of a call: its events, and under its key the answer, or the reservation of the next
 * call. The answer is encoded before the commit: one that breaks its contract rolls back.
 */
export function finishCall(
  { call, key }: { readonly call: Call; readonly key: ScopedKey | null },
  emitted: Emitted,
  value: unknown,
  journal: Journal,
): CallResult {
  const done = callResultOf(call, value)
  journalEvents(call, emitted, done, journal)
  if (key)
    journal.idempotency.push(
      done instanceof CallExternal ? reservationRow(key, done.reservation, call) : answerRow(key, done),
    )
  return done
}

/** Runs the handler of one call in its transaction, with the reactions of other areas, and completes its journal. */
export async function handleCall(
  runtime: Runtime,
  opened: { readonly call: Call; readonly key: ScopedKey | null },
  tx: Transaction,
  handle: (context: RequestContext) => unknown,
): Promise<CallResult> {
  const context = new RequestContext(runtime, opened.call, tx.now, tx)
  const value = await handle(context)
  await context.runReactions()
  tx.pendingStatements.push(...context.pendingStatements, ignoreRejection(context.records.flush()))
  return finishCall(opened, context, value, tx.journal)
}

export function answerOf(done: CallResult): Outcome {
  if (done instanceof CallExternal) throw new Error('only an external operation calls another system')
  return done
}
