import type { Tenant } from '../contract/actor.ts'
import type { Call, Outcome } from '../contract/call.ts'
import type { HotHandler, Item } from '../contract/handlers.ts'
import type { Ports } from '../contract/ports.ts'
import type { Sql } from '../contract/sql.ts'
import { type Claim, keep } from '../journal/idempotency.ts'
import type { EventRow, Journal } from '../journal/journal.ts'
import { auditOf, eventOf, refusalOf, wakeUp } from '../journal/journal-rows.ts'
import { outcomeOf } from './outcome.ts'

type Handler = HotHandler<Call['input'], unknown, string, Record<string, never>>
export type Result = PromiseSettledResult<Outcome>

/** A request in a batch; it has its result early where it was answered before or cannot be now. */
export interface Entry {
  readonly call: Call
  readonly claim: Claim | null
  readonly now: Date
  result?: Result
  /** What it has emitted. */
  events?: readonly EventRow[]
}

/** Runs the area's three functions over the requests that are still open. */
export async function decideAll(
  entries: readonly Entry[],
  sql: Sql,
  journal: Journal,
  ports: Ports,
): Promise<void> {
  const open = entries.filter(entry => !entry.result)
  const first = open[0]
  if (!first) return
  const handler = first.call.operation.handler as Handler
  const items = open.map(itemOf)
  const state = await handler.load(items, sql, ports)
  open.forEach((entry, index) => {
    const outcome = decide(handler, entry, items[index] as Item<Call['input']>, state, journal)
    entry.result = { status: 'fulfilled', value: outcome }
  })
  await handler.write(state, sql)
}

function decide(
  handler: Handler,
  entry: Entry,
  item: Item<Call['input']>,
  state: unknown,
  journal: Journal,
): Outcome {
  const { call, claim } = entry
  const { operation } = call.operation
  const before = journal.events.length
  const value = handler.decide(item, state, {
    refuse: (code, message) => refusalOf(operation, code, message),
    emit: (event: string, data: unknown) =>
      journal.events.push(eventOf(operation.emits, event, data, { ...item, requestId: call.requestId })),
    wake: (process, record) => journal.outbox.push(wakeUp(process, item.tenant, record)),
  })
  const outcome = outcomeOf(operation, value)
  entry.events = journal.events.slice(before)
  journal.audit.push(...entry.events.map(event => auditOf(call, event, outcome)))
  if (claim) journal.idempotency.push(keep(claim, outcome))
  return outcome
}

const itemOf = ({ call, now }: Entry): Item<Call['input']> => ({
  input: call.input,
  actor: call.actor,
  tenant: call.actor.tenant as Tenant,
  now,
  runId: call.run?.id ?? null,
})
