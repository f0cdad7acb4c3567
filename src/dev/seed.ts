import { dashboard } from '../derive/http/authenticate.ts'
import type { Ports } from '../kernel/contract/ports.ts'
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

interface SignInParts extends OperationParts {
  readonly ports: Pick<Ports, 'pageUrl' | 'relyingParty'>
}

/** Where the sandbox's owner signs in, and whether by a link, which works once and for ten minutes. */
export interface SignIn {
  readonly url: string
  readonly byLink: boolean
}

/**
 * A link, as `POST /console/links` makes it, while nobody has a passkey; afterwards the page where passkeys sign in, and
 * also where none of those who were invited is an owner: no link makes one beside them. Null where no passkey can exist.
 */
export async function signInOf({ apiKey }: Sandbox, parts: SignInParts): Promise<SignIn | null> {
  const { pageUrl, relyingParty } = parts.ports
  const owner = await holderOf(parts, apiKey)
  if (!owner || relyingParty().unavailable) return null
  const run = operationRunner(parts)
  const passkeys = await run(owner, 'passkeys.list', { query: { limit: '1' } })
  const byPasskey = { url: pageUrl('/login'), byLink: false }
  if (listed(passkeys).length > 0) return byPasskey
  const people = await run(owner, 'people.list', { query: { limit: '100' } })
  const present = listed(people).filter(({ status }) => status !== 'removed')
  const person = present.find(({ role }) => role === 'owner')
  if (!person && present.length > 0) return byPasskey
  const link = await run(owner, 'console.createLink', { body: person ? { personId: person.id } : {} })
  return { url: String(link.url), byLink: true }
}

const listed = ({ data }: Record<string, unknown>) => data as { id: string; status: string; role: string }[]
