import type { Tenant } from '../contract/actor.ts'
import type { ApiCall, ApiResponse } from '../contract/call.ts'
import { type BatchedAnswer, type BatchItem, type HotHandler, isNonEmpty } from '../contract/handlers.ts'
import type { Ports } from '../contract/ports.ts'
import { Problem } from '../contract/problem.ts'
import { flushesSentOn } from '../database/entity-manager.ts'
import type { ScopedIdempotencyKey } from '../journal/idempotency.ts'
import type { EventRow, OutboxRow } from '../journal/journal.ts'
import { buildEvent, buildRefusal, buildWakeUpRow } from '../journal/journal-rows.ts'
import { finishCall, type HandlerResult, journalEvents, repeatOf, requireOutcome } from './finish-call.ts'
import { ignoreRejection, RequestContext } from './request-context.ts'
import type { OperationRuntime } from './runtime.ts'
import { type CallInTransaction, replayedOutcome, type Transaction } from './transaction.ts'

type Handler = HotHandler<unknown, unknown, string, Record<string, never>>

/** A call of a batch, with its part of it. */
export interface CallInBatch extends ApiCall {
  readonly part: {
    readonly handler: Handler
    readonly input: unknown
    /** Calls of one name and tenant share their batches. */
    readonly name: string
    /** `records` the answer of another system: the reservation stored under its key is its own. */
    readonly kind: 'answers' | 'records'
    /** Takes what was decided, for the step of a process: it has no answer to encode. */
    readonly onDecided?: (value: unknown) => void
  }
}

export const hotCallInBatch = (call: ApiCall, handler = call.operation.handler): CallInBatch => ({
  ...call,
  part: { handler: handler as Handler, input: call.input, name: call.operation.key, kind: 'answers' },
})

export const stepInBatch = (
  call: ApiCall,
  { step, input }: BatchedAnswer,
  kind: CallInBatch['part']['kind'],
): CallInBatch => ({
  ...call,
  part: { handler: step, input, name: `${call.operation.key}.${step.name}`, kind },
})

/** A call of a batch. It has a result before it is decided if it is a replay or cannot run. */
interface BatchedCall {
  readonly call: CallInBatch
  readonly key: ScopedIdempotencyKey | null
  readonly stored: CallInTransaction['stored']
  result: PromiseSettledResult<HandlerResult> | undefined
  events?: readonly EventRow[]
}

/** An earlier request with the same key was left before its outcome, or a repetition is answered by the record: the caller does that. */
export const DECIDED_APART = new Error('the call of this key is decided in a transaction of its own')

export async function runBatch(
  runtime: OperationRuntime,
  opened: readonly CallInTransaction<CallInBatch>[],
  tx: Transaction,
): Promise<PromiseSettledResult<HandlerResult>[]> {
  const entries = opened.map(
    (one): BatchedCall => ({
      call: one.call,
      key: one.key,
      stored: one.stored,
      result: resultOf(one),
    }),
  )
  await decideAll(entries, runtime, tx)
  // A reaction reads what the batch has written.
  await flushesSentOn(tx.sql)
  for (const entry of entries) await reactTo(entry, runtime, tx)
  return entries.map(({ result }) => result ?? rejected(new Error('a call of a batch was not decided')))
}

export async function runBatchOfOne(
  runtime: OperationRuntime,
  call: ApiCall,
  tx: Transaction,
): Promise<ApiResponse> {
  const opened = { call: hotCallInBatch(call), key: null, stored: undefined, problem: undefined }
  const [result] = await runBatch(runtime, [opened], tx)
  if (result?.status !== 'fulfilled') throw result?.reason
  return requireOutcome(result.value)
}

const rejected = (reason: unknown): PromiseRejectedResult => ({ status: 'rejected', reason })

function resultOf(opened: CallInTransaction<CallInBatch>): BatchedCall['result'] {
  const { problem, stored, call } = opened
  if (problem) return rejected(problem)
  const isOwn = stored?.status === null && call.part.kind === 'records'
  if (!stored || isOwn) return undefined
  if (repeatOf(call)) return rejected(DECIDED_APART)
  try {
    const value = replayedOutcome(opened)
    return value ? { status: 'fulfilled', value } : rejected(DECIDED_APART)
  } catch (error) {
    return rejected(error)
  }
}

async function decideAll(
  entries: readonly BatchedCall[],
  runtime: OperationRuntime,
  tx: Transaction,
): Promise<void> {
  const undecided = entries.filter(entry => !entry.result)
  const [first] = undecided
  if (!first) return
  const { decided, state } = await loadAndDecide(undecided, tx, runtime.ports)
  for (const { of: entry, value, ...emitted } of decided) {
    if (value instanceof Problem) entry.result = rejected(value)
    else {
      const { onDecided } = entry.call.part
      onDecided?.(value)
      const answer = onDecided ? null : value
      entry.events = emitted.events
      entry.result = { status: 'fulfilled', value: finishCall(entry, emitted, answer, tx.journal) }
    }
  }
  await writeAll(first.call.part.handler, state, runtime, tx)
}

/** Sends the writes, which share the round trip of the journal and the commit: only those for other owners read, too. */
async function writeAll(
  handler: Handler,
  state: unknown,
  runtime: OperationRuntime,
  tx: Transaction,
): Promise<void> {
  const runForOwner = runtime.runForOwnerIn(tx)
  let concernsOthers = false
  const written = handler.write(state, tx.sql, (...call) => {
    concernsOthers = true
    return runForOwner(...call)
  })
  if (concernsOthers) await written
  else tx.pendingStatements.push(ignoreRejection(written))
}

export async function loadAndDecide<C extends { readonly call: CallInBatch }>(
  calls: readonly C[],
  { sql, now }: Pick<Transaction, 'sql' | 'now'>,
  ports: Ports,
) {
  const asked = calls.map(of => ({ of, item: itemOf(of.call, now) }))
  const items = asked.map(({ item }) => item)
  const [first] = calls
  if (!first || !isNonEmpty(items)) throw new Error('a batch without calls')
  const handler = first.call.part.handler
  const state = await handler.load(items, sql, ports)
  const decided = asked.map(({ of, item }) => ({ of, ...decide(handler, of.call, item, state) }))
  return { decided, state }
}

function decide(
  handler: Handler,
  { operation: { operation } }: ApiCall,
  item: BatchItem<unknown>,
  state: unknown,
) {
  const events: EventRow[] = []
  const outbox: OutboxRow[] = []
  const { tenant, now } = item
  const value = handler.decide(item, state, {
    tenant,
    now,
    refuse: (code, message) => buildRefusal(operation, code, message),
    emit: (event: string, data: unknown) => events.push(buildEvent(operation.emits, event, data, item)),
    wake: (process, record) => outbox.push(buildWakeUpRow(process, tenant, record)),
  })
  return { value, events, outbox }
}

const itemOf = (call: CallInBatch, now: Date): BatchItem<unknown> => ({
  input: call.part.input,
  actor: call.actor,
  tenant: call.actor.tenant as Tenant,
  now,
  requestId: call.requestId,
  address: call.address,
  runId: call.run?.id ?? null,
  holder: call.lease ?? null,
  prefersAsync: call.prefersAsync ?? false,
})

/** Few events of batches have a reaction in another area; without one this costs nothing. */
async function reactTo(
  { call, events = [], result }: BatchedCall,
  runtime: OperationRuntime,
  tx: Transaction,
): Promise<void> {
  const hasReaction = ({ event, data }: EventRow): boolean =>
    runtime.reactions.get(event)?.some(({ concerns }) => concerns?.(data) ?? true) ?? false
  const concerned = events.filter(hasReaction)
  if (concerned.length === 0 || result?.status !== 'fulfilled') return
  const context = new RequestContext(runtime, call, tx.now, tx)
  context.events.push(...concerned)
  await context.runReactions()
  await context.handOver()
  await Promise.all(context.pendingStatements)
  // The batch has journaled the events themselves: only what the reactions added is left to write.
  context.events.splice(0, concerned.length)
  journalEvents(call, context, result.value, tx.journal)
}
