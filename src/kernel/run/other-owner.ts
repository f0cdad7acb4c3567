import { processActor } from '../contract/actor.ts'
import type { ApiCall } from '../contract/call.ts'
import type { RunForOwner } from '../contract/context.ts'
import type { RegisteredOperation } from '../contract/operation.ts'
import { Problem } from '../contract/problem.ts'
import { runBatchOfOne } from './batch.ts'
import { readTenantTime, runHandler } from './plain.ts'
import type { JoinedTransaction, OperationRuntime } from './runtime.ts'

/**
 * The one place where a transaction writes rows of a second owner: it runs an operation without callers for
 * that owner, by that owner's clock, with events, webhooks and audit entries of its own, and commits with the
 * transaction that it joins. Its events are in no trace, as a payer may have chosen the id of its own. With owners in two databases, the operation would go into an outbox here
 * instead.
 */
const joining =
  (
    runtime: OperationRuntime,
    operations: readonly RegisteredOperation[],
    tx: JoinedTransaction,
  ): RunForOwner =>
  async (tenant, key, { params = {}, body = {} }, requestId) => {
    const operation = operations.find(operation => operation.key === key)
    if (operation?.operation.callers.length !== 0)
      throw new Error(`${key} is no operation of the service itself`)
    const now = await readTenantTime(tx.sql, tenant)
    const call: ApiCall = {
      operation,
      actor: processActor(tenant),
      input: { params, query: {}, body },
      requestId,
      address: null,
      idempotencyKey: null,
    }
    const joined = { ...tx, now }
    const isHot = operation.operation.run === 'hot'
    const { errorCode, body: answer } = isHot
      ? await runBatchOfOne(runtime, call, joined)
      : await runHandler(runtime, call, joined)
    if (errorCode) throw new Problem('unavailable')
    return JSON.parse(String(answer))
  }

export function withOwnerOperations(
  operations: readonly RegisteredOperation[],
  parts: Omit<OperationRuntime, 'runForOwnerIn'>,
): OperationRuntime {
  const runtime: OperationRuntime = { ...parts, runForOwnerIn: tx => joining(runtime, operations, tx) }
  return runtime
}
