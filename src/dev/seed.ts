import { dashboard } from '../derive/http/authenticate.ts'
import { holderOf, type OperationParts, operationRunner } from './operations.ts'

/** The owner that is there to try the service with. */
export interface Sandbox {
  ownerId: string
  apiKey: string
}

/**
 * Joins as anybody would, by the same operations: an owner with a key and a wallet of 10,000 €, and an agent with some
 * of it under the preset `standard`.
 */
export async function seedSandbox(known: Sandbox | null, parts: OperationParts): Promise<Sandbox> {
  if (known && (await holderOf(parts, known.apiKey))) return known
  const run = operationRunner(parts)
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
  const owner = await holderOf(parts, apiKey)
  if (!owner) throw new Error('the new sandbox key does not work')
  const preset = await run(owner, 'policies.preset', { params: { presetId: 'standard' } })
  const policy = await run(owner, 'policies.create', { body: preset.policy })
  const wallet = await run(owner, 'wallets.create', { body: { name: 'Main' } })
  await run(owner, 'fund.wallet', { params: { id: String(wallet.id) }, body: { amountEuros: 10_000 } })
  const agent = await run(owner, 'agents.create', { body: { name: 'Sandbox agent', policyId: policy.id } })
  await run(owner, 'agents.fund', { params: { id: String(agent.id) }, body: { amountEuros: 500 } })
  return { ownerId: String(account.id), apiKey }
}
