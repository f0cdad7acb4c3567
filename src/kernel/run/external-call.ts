import type { Call, Outcome } from '../contract/call.ts'
import { type OutsideHandler, Settled } from '../contract/handlers.ts'
import { Refusal } from '../contract/problem.ts'
import { replay, reservationRow } from '../journal/idempotency.ts'
import { addToJournal, inTransaction, type OpenTransaction, perform, settle } from './plain.ts'
import { RequestContext, unwatched } from './request-context.ts'
import type { Runtime } from './runtime.ts'

type Handler = OutsideHandler<Call['input'], unknown, string, Record<string, never>>

const RESERVED: Outcome = { status: 202, body: null }

interface Reserved {
  /** Set where the call needs no external system any more: refused, settled, replayed or recovered. */
  readonly outcome?: Outcome
  readonly reservation?: unknown
}

/** Reserves and commits, calls the external system with no transaction open, records its answer and commits. */
export async function runOutside(runtime: Runtime, call: Call): Promise<Outcome> {
  const handler = call.operation.handler as Handler
  const { outcome, reservation } = await inTransaction(runtime, call, tx =>
    reserve(runtime, call, handler, tx),
  )
  if (outcome) return outcome
  const answer = await handler.call(reservation, { ports: runtime.ports, requestId: call.requestId })
  const record = async (tx: OpenTransaction): Promise<Outcome> =>
    recoveredMeanwhile(tx) ??
    perform(runtime, call, tx, context => handler.record(answer, reservation, context))
  return inTransaction(runtime, call, record, 'wait')
}

/** An answer that comes after its lease has run out may find that another request has recovered the call. */
const recoveredMeanwhile = ({ key, stored }: OpenTransaction): Outcome | undefined =>
  key && stored && stored.status !== null ? replay(key, stored) : undefined

async function reserve(
  runtime: Runtime,
  call: Call,
  handler: Handler,
  tx: OpenTransaction,
): Promise<Reserved> {
  const { key, stored } = tx
  if (key && stored) {
    const recover = () => perform(runtime, call, tx, context => handler.recover(stored.reservation, context))
    return { outcome: replay(key, stored) ?? (await recover()) }
  }
  const context = new RequestContext(runtime, call, tx.now, tx.sql)
  const reservation = await handler.reserve(call.input, context)
  if (reservation instanceof Refusal) return { outcome: await settle(call, context, tx, reservation) }
  if (reservation instanceof Settled) return { outcome: await settle(call, context, tx, reservation.answer) }
  await context.react()
  tx.underWay.push(...context.underWay, unwatched(context.records.flush()))
  addToJournal(call, context, tx.journal, RESERVED)
  if (key) tx.journal.idempotency.push(reservationRow(key, reservation))
  return { reservation }
}
