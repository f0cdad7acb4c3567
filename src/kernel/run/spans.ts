import type { ApiCall, ApiResponse } from '../contract/call.ts'
import { withDatabaseRetries } from '../database/retry.ts'
import type { OperationRuntime } from './runtime.ts'

type Traced = Pick<OperationRuntime, 'ports'>

/** Runs each call in a span of its operation, below what caused the call. */
export function inSpanOfOperation(
  { ports }: Traced,
  execute: (call: ApiCall) => Promise<ApiResponse>,
): (call: ApiCall) => Promise<ApiResponse> {
  const { tracing } = ports.systems
  if (!tracing) return execute
  return call => {
    const { key } = call.operation
    const start = { name: key, cause: call.traceparent, attributes: { 'agentpay.operation': key } }
    return tracing.span(start, async ({ traceparent, set }) => {
      const outcome = await execute({ ...call, traceparent })
      if (outcome.errorCode !== undefined) set({ 'error.type': outcome.errorCode })
      return outcome
    })
  }
}

export function inSpanOfExternalCall<A>(
  { ports }: Traced,
  operation: string,
  make: () => Promise<A>,
): Promise<A> {
  const { tracing } = ports.systems
  const start = { name: 'external call', attributes: { 'agentpay.operation': operation } }
  return tracing ? tracing.span(start, make) : make()
}

/** Repeats the transaction where that can succeed. */
export function inSpanOfTransaction<T>(
  { ports }: Traced,
  calls: readonly ApiCall[],
  transaction: () => Promise<T>,
): Promise<T> {
  const { tracing } = ports.systems
  const parents = tracing ? calls.flatMap(({ traceparent }) => traceparent ?? []) : []
  if (!tracing || parents.length === 0) return withDatabaseRetries(transaction)
  const attributes = {
    'agentpay.operation': String(calls[0]?.operation.key),
    'agentpay.batch_size': calls.length,
  }
  return tracing.shared({ name: 'transaction', attributes }, parents, () => withDatabaseRetries(transaction))
}
