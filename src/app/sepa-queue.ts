import type { Queue, Standing } from '../adapters/sepa-rail/files.ts'
import type { Actor } from '../kernel/contract/actor.ts'
import type { Registered } from '../kernel/contract/operation.ts'
import { Problem } from '../kernel/contract/problem.ts'
import type { Execute } from '../kernel/run/execute.ts'
import { platformTenant } from '../money/incoming/index.ts'
import type { RailCall } from '../ports/sepa-rail.ts'

/** The payment queue of the rail by files: it is kept by operations that run as the platform itself. */
export function sepaQueue(execute: Execute, operations: readonly Registered[]): Queue {
  const actor: Actor = {
    type: 'process',
    id: null,
    tenant: platformTenant('live'),
    agentId: null,
    scopes: new Set(),
  }
  async function run(key: string, { reference, requestId }: RailCall, body: object = {}) {
    const operation = operations.find(operation => operation.key === key)
    if (!operation) throw new Error(`there is no operation ${key}`)
    const input = { params: { id: reference }, query: {}, body }
    const call = { operation, actor, input, requestId, address: null, idempotencyKey: null }
    const { errorCode, body: answer } = await execute(call)
    if (errorCode) throw new Problem('unavailable')
    return (JSON.parse(String(answer)) as { standing: Standing | null }).standing
  }
  return {
    async put({ scheme, endToEndId, amountEuros, payee, reference }, call) {
      await run('rails.enqueue', call, { scheme, endToEndId, amountEuros, payee, reference })
    },
    standing: call => run('rails.standing', call),
    takeOut: call => run('rails.takeOut', call),
  }
}
