import type { Tenant } from '../contract/actor.ts'
import type { Call, Outcome } from '../contract/call.ts'
import { Alone, type HotHandler, type Item, NextCall, type SharedStep } from '../contract/handlers.ts'
import { Problem } from '../contract/problem.ts'
import { answerRow, reservationRow, type ScopedKey } from '../journal/idempotency.ts'
import type { EventRow, Journal, OutboxRow } from '../journal/journal.ts'
import { eventOf, journalRowOf, refusalOf, wakeUp } from '../journal/journal-rows.ts'
import { outcomeOf } from './outcome.ts'
import type { JoinedTransaction, Runtime } from './runtime.ts'

export type Handler = HotHandler<unknown, unknown, string, Record<string, never>>
export type AnyStep = SharedStep<unknown, unknown, string, Record<string, never>>

/** A request in a batch: of a hot operation, or with a step of an outside one that is taken together. */
export interface HotCall extends Call {
  readonly step?: StepTaken
}

export interface StepTaken {
  readonly handler: AnyStep
  readonly input: unknown
  /** Whether the step reserves: it recovers nothing, and does not wait for another request with its key. */
  readonly reserves: boolean
}

export const handlerOf = ({ step, operation }: HotCall): Handler =>
  step?.handler ?? (operation.handler as Handler)

export const inputOf = ({ step, input }: HotCall): unknown => (step ? step.input : input)

/** What became of a request: its answer, or what a step leads to. */
export type Done = Outcome | NextCall<unknown> | Alone
export type Result = PromiseSettledResult<Done>

/** What a reservation shows in the journal: the answer comes later. */
export const RESERVED: Outcome = { status: 202, body: null }

/** A call of a batch. It has a result before deciding where it is a replay or cannot run. */
export interface BatchedCall {
  readonly call: HotCall
  readonly key: ScopedKey | null
  readonly now: Date
  result?: Result
  /** The events that deciding it emitted. */
  events?: readonly EventRow[]
}

/** Loads, decides and writes the calls of a batch that have no result yet. */
export async function decideAll(
  entries: readonly BatchedCall[],
  runtime: Runtime,
  tx: JoinedTransaction,
): Promise<void> {
  const undecided = entries.filter(entry => !entry.result)
  const first = undecided[0]
  if (!first) return
  const { ports } = runtime
  const handler = handlerOf(first.call)
  const items = undecided.map(itemOf)
  const state = await handler.load(items, tx.sql, ports)
  undecided.forEach((entry, index) => {
    const value = decideOne(handler, entry, items[index] as Item<unknown>, state, tx.journal)
    entry.result =
      value instanceof Problem ? { status: 'rejected', reason: value } : { status: 'fulfilled', value }
  })
  await handler.write(state, tx.sql, runtime.joined(tx))
}

function decideOne(
  handler: Handler,
  entry: BatchedCall,
  item: Item<unknown>,
  state: unknown,
  journal: Journal,
): Done | Problem {
  const { call, key } = entry
  const { value, events, outbox } = decideBy(handler, call, item, state)
  if (value instanceof Alone || value instanceof Problem) return value
  const isNext = value instanceof NextCall
  const outcome = isNext ? RESERVED : outcomeOf(call.operation.operation, value)
  entry.events = events
  journal.outbox.push(...outbox)
  journal.events.push(...events.map(event => journalRowOf(call, event, outcome)))
  if (key)
    journal.idempotency.push(isNext ? reservationRow(key, value.reservation, call) : answerRow(key, outcome))
  return isNext ? value : outcome
}

/** What a handler decides about one request, with the events and wake-ups that come of it. */
export function decideBy(handler: Handler, call: HotCall, item: Item<unknown>, state: unknown) {
  const { operation } = call.operation
  const events: EventRow[] = []
  const outbox: OutboxRow[] = []
  const value = handler.decide(item, state, {
    refuse: (code, message) => refusalOf(operation, code, message),
    emit: (event: string, data: unknown) => events.push(eventOf(operation.emits, event, data, item)),
    wake: (process, record) => outbox.push(wakeUp(process, item.tenant, record)),
  })
  return { value, events, outbox }
}

export const itemOf = ({ call, now }: Pick<BatchedCall, 'call' | 'now'>): Item<unknown> => ({
  input: inputOf(call),
  actor: call.actor,
  tenant: call.actor.tenant as Tenant,
  now,
  requestId: call.requestId,
  address: call.address,
  runId: call.run?.id ?? null,
})
