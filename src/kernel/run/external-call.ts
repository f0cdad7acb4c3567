import type { Call, Outcome } from '../contract/call.ts'
import { Alone, NextCall, type OutsideHandler, Settled } from '../contract/handlers.ts'
import { Problem, Refusal, WithHeaders } from '../contract/problem.ts'
import type { ProcessLease } from '../database/process-lease.ts'
import { asProblem } from '../database/retry.ts'
import { inProgress, replay, reservationRow, takeOver } from '../journal/idempotency.ts'
import type { RunTogether } from './group-commit.ts'
import { type AnyStep, type Done, type HotCall, RESERVED } from './group-decide.ts'
import { LEFT } from './group-open.ts'
import { sharedReads } from './group-read.ts'
import { outcomeOf } from './outcome.ts'
import { addToJournal, inTransaction, type OpenTransaction, perform, readBy, settle } from './plain.ts'
import { RequestContext, unwatched } from './request-context.ts'
import type { Runtime } from './runtime.ts'

type Handler = OutsideHandler<Call['input'], unknown, string, Record<string, never>>

/** How a transaction of the chain ends: with the outcome, or with a call to be made. */
type Step = { readonly outcome: Outcome } | { readonly reservation: unknown }

/**
 * Reserves and commits, calls the external system with no transaction open, records its answer and commits; again for
 * each further call that an answer leads to.
 */
export function outsideRun(runtime: Runtime, together: RunTogether): (call: Call) => Promise<Outcome> {
  const { lease, keptAnswers } = runtime
  const readTogether = sharedReads(runtime)

  function beginAlone(call: Call): Promise<Step> {
    const handler = call.operation.handler as Handler
    return handler.readsToReserve && !call.idempotencyKey
      ? beginByReading(runtime, call, handler)
      : inTransaction(runtime, call, tx => begin(runtime, call, handler, tx))
  }

  /** Without a key to be kept, what reserves by reading alone writes nothing. */
  async function beginTogether(call: HotCall): Promise<Step> {
    const mayRead = !call.idempotencyKey && !call.step?.handler.settles
    const read = mayRead ? await readTogether(call) : undefined
    if (read) return { reservation: read.reservation }
    try {
      const done = await together(call)
      if (!(done instanceof Alone)) return stepOf(done)
      throw new Error(`${call.operation.key}: a step that reserves leaves nothing to be done alone`)
    } catch (error) {
      if (error === LEFT) return beginAlone(call)
      throw error
    }
  }

  async function record(call: Call, handler: Handler, answer: unknown, reservation: unknown): Promise<Step> {
    const shared = handler.together?.(answer, reservation)
    const done = shared && (await together(taking(call, shared, { answer, reservation }, false)))
    if (done && !(done instanceof Alone)) return stepOf(done)
    const alone = (tx: OpenTransaction) =>
      recordAnswer(runtime, call, tx, context => handler.record(answer, reservation, context))
    return inTransaction(runtime, call, alone, 'wait')
  }

  /** Calls and records until there is an outcome. A process that was paused makes no call that others have decided. */
  async function finish(given: Call, first: Step, leave: (reason: Problem) => void): Promise<Outcome> {
    const handler = given.operation.handler as Handler
    let call = given
    let step = first
    while ('reservation' in step) {
      const { reservation } = step
      if (await lease.stillHolds(String(call.lease))) {
        const answer = await handler.call(reservation, { ports: runtime.ports, requestId: call.requestId })
        step = await keptAnswers.record(call, () => record(call, handler, answer, reservation), leave)
      } else {
        if (!call.idempotencyKey) throw takenOver()
        call = { ...call, lease: await lease.hold() }
        step = await beginAlone(call)
      }
    }
    return step.outcome
  }

  return async given => {
    const handler = given.operation.handler as Handler
    const seen = handler.peek && !given.idempotencyKey && (await peek(runtime, given, handler.peek))
    if (seen) return seen
    const call = { ...given, lease: await leaseOf(lease) }
    const { reserve } = handler
    const step = await (typeof reserve === 'function'
      ? beginAlone(call)
      : beginTogether(taking(call, reserve as AnyStep, call.input, true)))
    if ('outcome' in step) return step.outcome
    const left = Promise.withResolvers<never>()
    return Promise.race([finish(call, step, left.reject), left.promise])
  }
}

/** The lease under which a request calls other systems; 503 where the database is away. */
const leaseOf = (lease: ProcessLease): Promise<string> =>
  lease.hold().catch((error: unknown) => {
    throw asProblem(error)
  })

const takenOver = (): Problem =>
  new Problem(
    'outcome_unknown',
    'This process was paused before it could ask the other system, and others may have taken over. Look at the record before you repeat the request.',
    { 'Retry-After': '5' },
  )

/** The call with a step that it takes together with others of the tenant. */
function taking(call: Call, shared: unknown, input: unknown, reserves: boolean): HotCall {
  const handler = shared as AnyStep
  const tenant = handler.tenantOf?.(input) ?? call.actor.tenant
  return { ...call, actor: { ...call.actor, tenant }, step: { handler, input, reserves } }
}

const stepOf = (done: Exclude<Done, Alone>): Step =>
  done instanceof NextCall ? { reservation: done.reservation } : { outcome: done }

/** The answer that needs no write, if there is one; read as a GET is. */
async function peek(
  runtime: Runtime,
  call: Call,
  look: NonNullable<Handler['peek']>,
): Promise<Outcome | undefined> {
  const value = await onlyReading(runtime, call, context => look(call.input, context))
  return value === undefined ? undefined : outcomeOf(call.operation.operation, value)
}

/** By these headers a request pays. HEAD pays nothing: it is answered as a request without them. */
const PAYING = ['authorization', 'payment-authorization']

/** Answers HEAD of a GET that writes, by reading alone: no other system is called. */
export async function headOfOutside(runtime: Runtime, call: Call): Promise<Outcome> {
  const { operation, key } = call.operation
  const { head, peek } = call.operation.handler as Handler
  const look = head ?? peek
  const { request } = call
  const headers = Object.fromEntries(
    Object.entries(request?.headers ?? {}).filter(([name]) => !PAYING.includes(name)),
  )
  const asked = request ? { ...call, request: { ...request, headers } } : call
  const value = look && (await onlyReading(runtime, asked, context => look(call.input, context)))
  if (value === undefined) throw new Error(`${key} answers HEAD neither by \`head\` nor by \`peek\``)
  return outcomeOf(operation, value)
}

async function onlyReading<T>(
  runtime: Runtime,
  call: Call,
  look: (context: RequestContext) => Promise<T>,
): Promise<T> {
  const { context, value } = await readBy(runtime, call, look)
  if (context.events.length + context.outbox.length > 0)
    throw new Error(`${call.operation.key} writes where it says that it only reads`)
  return value
}

async function beginByReading(runtime: Runtime, call: Call, { reserve }: Handler): Promise<Step> {
  if (typeof reserve !== 'function') throw new Error('a step is read together with others')
  const reserved = await onlyReading(runtime, call, context => reserve(call.input, context))
  const answer = answerIn(reserved)
  return answer === undefined
    ? { reservation: reserved }
    : { outcome: outcomeOf(call.operation.operation, answer) }
}

/** The answer to a request for which nothing was reserved; undefined where a call follows. */
function answerIn(reserved: unknown): unknown {
  if (reserved instanceof Settled) return reserved.answer
  return reserved instanceof Refusal || reserved instanceof WithHeaders ? reserved : undefined
}

async function begin(runtime: Runtime, call: Call, handler: Handler, tx: OpenTransaction): Promise<Step> {
  const { key, stored } = tx
  if (key && stored) {
    const replayed = replay(key, stored)
    if (replayed) return { outcome: replayed }
    await takeOver(tx.sql, stored, runtime.lease)
    const recover = (context: RequestContext) => handler.recover(stored.reservation, context)
    return { outcome: await perform(runtime, call, tx, recover) }
  }
  // What was left is gone by now: it has been recovered, and its answer dropped since.
  if (typeof handler.reserve !== 'function') throw inProgress()
  const context = new RequestContext(runtime, call, tx.now, tx)
  const reservation = await handler.reserve(call.input, context)
  const answer = answerIn(reservation)
  if (answer !== undefined) return { outcome: await settle(call, context, tx, answer) }
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
  const context = new RequestContext(runtime, call, tx.now, tx)
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
  if (key) journal.idempotency.push(reservationRow(key, reservation, call))
  return { reservation }
}
