import type { Call, Outcome } from '../contract/call.ts'
import type { OutsideHandler } from '../contract/handlers.ts'
import { Refusal } from '../contract/problem.ts'
import { keepReservation, replay } from '../journal/idempotency.ts'
import { note, type Opened, perform, settle, transaction } from './plain.ts'
import { Work } from './request-context.ts'
import type { House } from './runtime.ts'

type Handler = OutsideHandler<Call['input'], unknown, string, Record<string, never>>

const RESERVED: Outcome = { status: 202, body: null }

interface Reserved {
  readonly done?: Outcome
  readonly reservation?: unknown
}

export async function runOutside(house: House, call: Call): Promise<Outcome> {
  const handler = call.operation.handler as Handler
  const { done, reservation } = await transaction(house, call, opened =>
    reserve(house, call, handler, opened),
  )
  if (done) return done
  const answer = await handler.call(reservation, { ports: house.ports, requestId: call.requestId })
  const record = async (opened: Opened): Promise<Outcome> =>
    settledMeanwhile(opened) ??
    perform(house, call, opened, work => handler.record(answer, reservation, work))
  return transaction(house, call, record, 'wait')
}

/** An answer that comes after its lease may find that somebody has recovered. */
const settledMeanwhile = ({ claim, kept }: Opened): Outcome | undefined =>
  claim && kept && kept.status !== null ? replay(claim, kept) : undefined

async function reserve(house: House, call: Call, handler: Handler, opened: Opened): Promise<Reserved> {
  const { claim, kept } = opened
  if (claim && kept) {
    const recover = () => perform(house, call, opened, work => handler.recover(kept.reservation, work))
    return { done: replay(claim, kept) ?? (await recover()) }
  }
  const work = new Work(house, call, opened.now, opened)
  const reservation = await handler.reserve(call.input, work)
  if (reservation instanceof Refusal) return { done: await settle(call, work, opened, reservation) }
  await work.react()
  await work.em.flush()
  note(call, work, opened.journal, RESERVED)
  if (claim) opened.journal.idempotency.push(keepReservation(claim, reservation))
  return { reservation }
}
