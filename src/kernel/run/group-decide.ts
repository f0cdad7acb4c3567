import type { Tenant } from '../contract/actor.ts'
import type { Call, Outcome } from '../contract/call.ts'
import type { HotHandler, Item } from '../contract/handlers.ts'
import type { Ports } from '../contract/ports.ts'
import type { Sql } from '../contract/sql.ts'
import { answerRow, type ScopedKey } from '../journal/idempotency.ts'
import type { EventRow, Journal } from '../journal/journal.ts'
import { eventOf, journalRowOf, refusalOf, wakeUp } from '../journal/journal-rows.ts'
import { outcomeOf } from './outcome.ts'

type Handler = HotHandler<Call['input'], unknown, string, Record<string, never>>
export type Result = PromiseSettledResult<Outcome>

/** Does what a batch leaves to be done after its commit. */
export type AfterCommit = () => Promise<void> | undefined

/** A call of a batch. It has a result before deciding where it is a replay or cannot run. */
export interface BatchedCall {
  readonly call: Call
  readonly key: ScopedKey | null
  readonly now: Date
  result?: Result
  /** The events that deciding it emitted. */
  events?: readonly EventRow[]
}

/** Loads, decides and writes the calls of a batch that have no result yet. Gives what is left for after the commit. */
export async function decideAll(
  entries: readonly BatchedCall[],
  sql: Sql,
  journal: Journal,
  ports: Ports,
): Promise<AfterCommit | undefined> {
  const undecided = entries.filter(entry => !entry.result)
  const first = undecided[0]
  if (!first) return undefined
  const handler = first.call.operation.handler as Handler
  const items = undecided.map(itemOf)
  const state = await handler.load(items, sql, ports)
  undecided.forEach((entry, index) => {
    const outcome = decide(handler, entry, items[index] as Item<Call['input']>, state, journal)
    entry.result = { status: 'fulfilled', value: outcome }
  })
  await handler.write(state, sql)
  const { requestId } = first.call
  return () => handler.afterCommit?.(state, { ports, requestId })
}

function decide(
  handler: Handler,
  entry: BatchedCall,
  item: Item<Call['input']>,
  state: unknown,
  journal: Journal,
): Outcome {
  const { call, key } = entry
  const { operation } = call.operation
  const events: EventRow[] = []
  const value = handler.decide(item, state, {
    refuse: (code, message) => refusalOf(operation, code, message),
    emit: (event: string, data: unknown) =>
      events.push(eventOf(operation.emits, event, data, { ...item, requestId: call.requestId })),
    wake: (process, record) => journal.outbox.push(wakeUp(process, item.tenant, record)),
  })
  const outcome = outcomeOf(operation, value)
  entry.events = events
  journal.events.push(...events.map(event => journalRowOf(call, event, outcome)))
  if (key) journal.idempotency.push(answerRow(key, outcome))
  return outcome
}

const itemOf = ({ call, now }: BatchedCall): Item<Call['input']> => ({
  input: call.input,
  actor: call.actor,
  tenant: call.actor.tenant as Tenant,
  now,
  runId: call.run?.id ?? null,
})
