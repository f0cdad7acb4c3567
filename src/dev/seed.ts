import { dashboard, type Gate } from '../derive/http/authenticate.ts'
import { inputOf } from '../derive/http/input.ts'
import type { Actor } from '../kernel/contract/actor.ts'
import type { Registered } from '../kernel/contract/operation.ts'
import type { Execute } from '../kernel/run/execute.ts'

/** The owner that is there to try the service with. */
export interface Sandbox {
  ownerId: string
  apiKey: string
}

interface Parts {
  readonly execute: Execute
  readonly operations: readonly Registered[]
  readonly gate: Gate
}

/**
 * Joins as anybody would, by the same operations: an owner with a key and a wallet of 10,000 €, and an agent with some
 * of it under the preset `standard`.
 */
export async function seedSandbox(known: Sandbox | null, parts: Parts): Promise<Sandbox> {
  if (known && (await holder(parts, known.apiKey))) return known
  const run = runner(parts)
  const account = await run(dashboard, 'keys.openAccount', {
    body: {
      name: 'Sandbox',
      email: 'sandbox@example.com',
      type: 'business',
      country: 'DE',
      plan: 'enterprise',
    },
  })
  const apiKey = String(account.key)
  const owner = await holder(parts, apiKey)
  if (!owner) throw new Error('the new sandbox key does not work')
  const preset = await run(owner, 'policies.preset', { params: { presetId: 'standard' } })
  const policy = await run(owner, 'policies.create', { body: preset.policy })
  const wallet = await run(owner, 'wallets.create', { body: { name: 'Main' } })
  await run(owner, 'fund.wallet', { params: { id: String(wallet.id) }, body: { amountEuros: 10_000 } })
  const agent = await run(owner, 'agents.create', { body: { name: 'Sandbox agent', policyId: policy.id } })
  await run(owner, 'agents.fund', { params: { id: String(agent.id) }, body: { amountEuros: 500 } })
  return { ownerId: String(account.id), apiKey }
}

async function holder({ gate, operations }: Parts, key: string): Promise<Actor | undefined> {
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

const runner =
  ({ execute, operations }: Parts) =>
  async (
    actor: Actor,
    key: string,
    { params = {}, body = {} }: { params?: Record<string, string>; body?: unknown },
  ): Promise<Record<string, unknown>> => {
    const operation = operationOf(operations, key)
    const input = { params, ...inputOf(operation.operation, new URLSearchParams(), body) }
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
