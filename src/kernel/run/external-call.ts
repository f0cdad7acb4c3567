import type { Call, Outcome } from '../contract/call.ts'
import { NextCall, type OutsideHandler, Settled } from '../contract/handlers.ts'
import { Refusal, WithHeaders } from '../contract/problem.ts'
import { replay, reservationRow } from '../journal/idempotency.ts'
import { outcomeOf } from './outcome.ts'
import { addToJournal, inTransaction, type OpenTransaction, perform, readBy, settle } from './plain.ts'
import { RequestContext, unwatched } from './request-context.ts'
import type { Runtime } from './runtime.ts'

type Handler = OutsideHandler<Call['input'], unknown, string, Record<string, never>>

const RESERVED: Outcome = { status: 202, body: null }

/** How a transaction of the chain ends: with the outcome, or with a call to be made. */
type Step = { readonly outcome: Outcome } | { readonly reservation: unknown }

/**
 * Reserves and commits, calls the external system with no transaction open, records its answer and commits; again for
 * each further call that an answer leads to.
 */
export async function runOutside(runtime: Runtime, call: Call): Promise<Outcome> {
  const handler = call.operation.handler as Handler
  const seen = handler.peek && !call.idempotencyKey && (await peek(runtime, call, handler.peek))
  if (seen) return seen
  let step = await inTransaction(runtime, call, tx => begin(runtime, call, handler, tx))
  while ('reservation' in step) {
    const { reservation } = step
    const answer = await handler.call(reservation, { ports: runtime.ports, requestId: call.requestId })
    const record = (tx: OpenTransaction) =>
      recordAnswer(runtime, call, tx, context => handler.record(answer, reservation, context))
    step = await inTransaction(runtime, call, record, 'wait')
  }
  return step.outcome
}

/** The answer that needs no write, if there is one; read as a GET is. */
async function peek(
  runtime: Runtime,
  call: Call,
  look: NonNullable<Handler['peek']>,
): Promise<Outcome | undefined> {
  const { context, value } = await readBy(runtime, call, context => look(call.input, context))
  if (context.events.length + context.outbox.length > 0)
    throw new Error(`${call.operation.key} writes in \`peek\`, which only reads`)
  return value === undefined ? undefined : outcomeOf(call.operation.operation, value)
}

async function begin(runtime: Runtime, call: Call, handler: Handler, tx: OpenTransaction): Promise<Step> {
  const { key, stored } = tx
  if (key && stored) {
    const recover = () => perform(runtime, call, tx, context => handler.recover(stored.reservation, context))
    return { outcome: replay(key, stored) ?? (await recover()) }
  }
  const context = new RequestContext(runtime, call, tx.now, tx.sql)
  const reservation = await handler.reserve(call.input, context)
  if (reservation instanceof Refusal || reservation instanceof WithHeaders)
    return { outcome: await settle(call, context, tx, reservation) }
  if (reservation instanceof Settled) return { outcome: await settle(call, context, tx, reservation.answer) }
  return reserve(call, context, tx, reservation)
}

async function recordAnswer(
  runtime: Runtime,
  call: Call,
  tx: OpenTransaction,
  record: (context: RequestContext) => Promise<unknown>,
): Promise<Step> {
  const recovered = recoveredMeanwhile(tx)
  if (recovered) return { outcome: recovered }
  const context = new RequestContext(runtime, call, tx.now, tx.sql)
  const recorded = await record(context)
  return recorded instanceof NextCall
    ? reserve(call, context, tx, recorded.reservation)
    : { outcome: await settle(call, context, tx, recorded) }
}

/** An answer that comes after its lease has run out may find that another request has recovered the call. */
const recoveredMeanwhile = ({ key, stored }: OpenTransaction): Outcome | undefined =>
  key && stored && stored.status !== null ? replay(key, stored) : undefined

/** Completes the journal of a transaction that a call follows; the lease of its key begins anew. */
async function reserve(
  call: Call,
  context: RequestContext,
  { key, journal, underWay }: OpenTransaction,
  reservation: unknown,
): Promise<Step> {
  await context.react()
  underWay.push(...context.underWay, unwatched(context.records.flush()))
  addToJournal(call, context, journal, RESERVED)
  if (key) journal.idempotency.push(reservationRow(key, reservation))
  return { reservation }
}
