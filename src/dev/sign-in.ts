import type { Ports } from '../kernel/contract/ports.ts'
import { holderOf, type OperationParts, operationRunner } from './operations.ts'
import type { Sandbox } from './seed.ts'

interface SignInParts extends OperationParts {
  readonly ports: Pick<Ports, 'pageUrl' | 'relyingParty'>
}

/** Where the sandbox's owner signs in, and whether by a link, which works once and for ten minutes. */
export interface SignIn {
  readonly url: string
  readonly byLink: boolean
}

/**
 * A link, as `POST /console/links` makes it, while nobody has a passkey; afterwards the page where passkeys sign in. Null
 * where no passkey can exist.
 */
export async function signInOf({ apiKey }: Sandbox, parts: SignInParts): Promise<SignIn | null> {
  const { pageUrl, relyingParty } = parts.ports
  const owner = await holderOf(parts, apiKey)
  if (!owner || relyingParty().unavailable) return null
  const run = operationRunner(parts)
  const passkeys = await run(owner, 'passkeys.list', { query: { limit: '1' } })
  if (listed(passkeys).length > 0) return { url: pageUrl('/login'), byLink: false }
  const people = await run(owner, 'people.list', { query: { role: 'owner', limit: '100' } })
  const person = listed(people).find(({ status }) => status !== 'removed')
  const link = await run(owner, 'console.createLink', { body: person ? { personId: person.id } : {} })
  return { url: String(link.url), byLink: true }
}

const listed = ({ data }: Record<string, unknown>) => data as { id: string; status: string }[]
