import { Alone, NextCall } from '../contract/handlers.ts'
import type { EventRow } from '../journal/journal.ts'
import { type BatchedCall, RESERVED } from './group-decide.ts'
import { addToJournal } from './plain.ts'
import { RequestContext } from './request-context.ts'
import type { JoinedTransaction, Runtime } from './runtime.ts'

/**
 * Runs other areas' reactions to the events of a batch, in its transaction, after the batch has written its rows. Few
 * events of hot operations have a reaction; without one this costs nothing.
 */
export async function reactToBatch(
  runtime: Runtime,
  entries: readonly BatchedCall[],
  tx: JoinedTransaction,
): Promise<void> {
  const hasReaction = ({ event, data }: EventRow): boolean =>
    runtime.reactions.get(event)?.some(({ concerns }) => concerns?.(data) ?? true) ?? false
  for (const entry of entries) {
    const events = entry.events?.filter(hasReaction) ?? []
    if (events.length > 0) await reactTo(events, entry, runtime, tx)
  }
}

async function reactTo(
  events: readonly EventRow[],
  { call, now, result }: BatchedCall,
  runtime: Runtime,
  tx: JoinedTransaction,
): Promise<void> {
  if (result?.status !== 'fulfilled') return
  const context = new RequestContext(runtime, call, now, tx)
  context.events.push(...events)
  await context.react()
  await Promise.all([...context.underWay, context.records.flush()])
  // The batch has journaled the events themselves: only what the reactions added is left to write.
  context.events.splice(0, events.length)
  const { value } = result
  const leadsOn = value instanceof NextCall || value instanceof Alone
  addToJournal(call, context, tx.journal, leadsOn ? RESERVED : value)
}
