import type { Gate } from '../derive/http/authenticate.ts'
import { inputOf } from '../derive/http/input.ts'
import type { Actor } from '../kernel/contract/actor.ts'
import type { Registered } from '../kernel/contract/operation.ts'
import type { Execute } from '../kernel/run/execute.ts'

/** What runs operations as a request would. */
export interface OperationParts {
  readonly execute: Execute
  readonly operations: readonly Registered[]
  readonly gate: Gate
}

/** The owner of a key; undefined where the key does not work. */
export async function holderOf(
  { gate, operations }: OperationParts,
  key: string,
): Promise<Actor | undefined> {
  const { operation } = operationOf(operations, 'agents.create')
  return gate(operation, { authorization: `Bearer ${key}`, dashboardSecret: undefined }).catch(
    () => undefined,
  )
}

function operationOf(operations: readonly Registered[], key: string): Registered {
  const operation = operations.find(candidate => candidate.key === key)
  if (!operation) throw new Error(`there is no operation ${key}`)
  return operation
}

interface Input {
  readonly params?: Record<string, string>
  readonly query?: Record<string, string>
  readonly body?: unknown
}

/** Runs operations by their keys; throws where one refuses. */
export const operationRunner =
  ({ execute, operations }: OperationParts) =>
  async (
    actor: Actor,
    key: string,
    { params = {}, query = {}, body = {} }: Input,
  ): Promise<Record<string, unknown>> => {
    const operation = operationOf(operations, key)
    const input = { params, ...inputOf(operation.operation, new URLSearchParams(query), body) }
    const outcome = await execute({
      operation,
      actor,
      input,
      requestId: 'start',
      address: null,
      idempotencyKey: null,
    })
    const answer = JSON.parse(String(outcome.body))
    if (outcome.errorCode) throw new Error(`${key}: ${answer.error}`)
    return answer
  }
