import { processOf } from '../../kernel/background/deadlines.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { Registered } from '../../kernel/contract/operation.ts'
import type { Execute } from '../../kernel/run/execute.ts'

interface Parts {
  readonly execute: Execute
  readonly operations: readonly Registered[]
}

interface Gone {
  readonly id: string
  readonly ownerId: string
  readonly mode: Mode
}

/** Deletes a subscription by an operation, so that there is an event. */
export async function unsubscribe(
  { execute, operations }: Parts,
  { id, ownerId, mode }: Gone,
): Promise<void> {
  const operation = operations.find(({ key }) => key === 'push.drop')
  if (!operation) return
  await execute({
    operation,
    actor: processOf({ ownerId, mode }),
    input: { params: { id }, query: {}, body: {} },
    requestId: `push:${id}`,
    address: null,
    idempotencyKey: null,
  })
}
