import { processOf } from '../kernel/background/deadlines.ts'
import type { Registered } from '../kernel/contract/operation.ts'
import type { Ports } from '../kernel/contract/ports.ts'
import { Problem } from '../kernel/contract/problem.ts'
import type { Execute } from '../kernel/run/execute.ts'

/** Runs operations as the service itself; gives what they answer. */
export const ownOperations =
  (execute: Execute, operations: readonly Registered[]): Ports['runFor'] =>
  async (tenant, key, { params = {}, body = {} }, requestId) => {
    const operation = operations.find(operation => operation.key === key)
    if (!operation) throw new Error(`there is no operation ${key}`)
    const { errorCode, body: answer } = await execute({
      operation,
      actor: processOf(tenant),
      input: { params, query: {}, body },
      requestId,
      address: null,
      idempotencyKey: null,
    })
    if (errorCode) throw new Problem('unavailable')
    return JSON.parse(String(answer))
  }
