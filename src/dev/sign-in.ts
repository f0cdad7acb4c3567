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
