import { processOf } from '../contract/actor.ts'
import type { Call, Outcome } from '../contract/call.ts'
import type { RunForOwner } from '../contract/context.ts'
import type { PlainHandler } from '../contract/handlers.ts'
import type { Registered } from '../contract/operation.ts'
import { Problem } from '../contract/problem.ts'
import { type BatchedCall, decideAll } from './group-decide.ts'
import { reactToBatch } from './group-reactions.ts'
import { nowOf, perform } from './plain.ts'
import type { JoinedTransaction, Runtime } from './runtime.ts'

type Handler = PlainHandler<Call['input'], unknown, string, Record<string, never>>

/**
 * The one place where a transaction writes rows of a second owner: it runs an operation without callers for that owner, by
 * that owner's clock, with events, webhooks and audit entries of its own, and commits with the transaction that it joins.
 * Where owners lie in two databases, this is where the operation is put into an outbox instead.
 */
const joining =
  (runtime: Runtime, operations: readonly Registered[], tx: JoinedTransaction): RunForOwner =>
  async (tenant, key, { params = {}, body = {} }, requestId) => {
    const operation = operations.find(operation => operation.key === key)
    if (operation?.operation.callers.length !== 0)
      throw new Error(`${key} is no operation of the service itself`)
    const now = await nowOf(tx.sql, tenant)
    const call: Call = {
      operation,
      actor: processOf(tenant),
      input: { params, query: {}, body },
      requestId,
      address: null,
      idempotencyKey: null,
    }
    const run = operation.operation.run === 'hot' ? runHot : runPlain
    const { errorCode, body: answer } = await run(runtime, call, now, tx)
    if (errorCode) throw new Problem('unavailable')
    return JSON.parse(String(answer))
  }

const runPlain = (runtime: Runtime, call: Call, now: Date, tx: JoinedTransaction): Promise<Outcome> =>
  perform(runtime, call, { ...tx, now, key: null, stored: undefined }, context =>
    (call.operation.handler as Handler)(call.input, context),
  )

/** A hot operation joins as a batch of one. */
async function runHot(runtime: Runtime, call: Call, now: Date, tx: JoinedTransaction): Promise<Outcome> {
  const entry: BatchedCall = { call, key: null, now }
  await decideAll([entry], runtime, tx)
  await reactToBatch(runtime, [entry], tx)
  const { result } = entry
  if (result?.status !== 'fulfilled') throw result?.reason
  return result.value as Outcome
}

/** The runtime whose transactions operations of other owners join. */
export function withOwners(operations: readonly Registered[], parts: Omit<Runtime, 'joined'>): Runtime {
  const runtime: Runtime = { ...parts, joined: tx => joining(runtime, operations, tx) }
  return runtime
}
