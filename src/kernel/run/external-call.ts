import type { Call, Outcome } from '../contract/call.ts'
import type { OutsideHandler } from '../contract/handlers.ts'
import { Refusal } from '../contract/problem.ts'
import { keepReservation, replay } from '../journal/idempotency.ts'
import { note, type Opened, perform, settle, transaction } from './plain.ts'
import { RequestContext } from './request-context.ts'
import type { Runtime } from './runtime.ts'

type Handler = OutsideHandler<Call['input'], unknown, string, Record<string, never>>

const RESERVED: Outcome = { status: 202, body: null }

interface Reserved {
  readonly done?: Outcome
  readonly reservation?: unknown
}

export async function runOutside(runtime: Runtime, call: Call): Promise<Outcome> {
  const handler = call.operation.handler as Handler
  const { done, reservation } = await transaction(runtime, call, opened =>
    reserve(runtime, call, handler, opened),
  )
  if (done) return done
  const answer = await handler.call(reservation, { ports: runtime.ports, requestId: call.requestId })
  const record = async (opened: Opened): Promise<Outcome> =>
    settledMeanwhile(opened) ??
    perform(runtime, call, opened, context => handler.record(answer, reservation, context))
  return transaction(runtime, call, record, 'wait')
}

/** An answer that comes after its lease may find that somebody has recovered. */
const settledMeanwhile = ({ claim, kept }: Opened): Outcome | undefined =>
  claim && kept && kept.status !== null ? replay(claim, kept) : undefined

async function reserve(runtime: Runtime, call: Call, handler: Handler, opened: Opened): Promise<Reserved> {
  const { claim, kept } = opened
  if (claim && kept) {
    const recover = () =>
      perform(runtime, call, opened, context => handler.recover(kept.reservation, context))
    return { done: replay(claim, kept) ?? (await recover()) }
  }
  const context = new RequestContext(runtime, call, opened.now, opened)
  const reservation = await handler.reserve(call.input, context)
  if (reservation instanceof Refusal) return { done: await settle(call, context, opened, reservation) }
  await context.react()
  await context.em.flush()
  note(call, context, opened.journal, RESERVED)
  if (claim) opened.journal.idempotency.push(keepReservation(claim, reservation))
  return { reservation }
}
