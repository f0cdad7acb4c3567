import type { Context } from '../../kernel/contract/context.ts'
import { roleScopes, type Scope } from '../../kernel/contract/scopes.ts'
import { findCustomer } from '../customers/index.ts'
import { findPerson } from '../people/index.ts'

interface Given {
  readonly ownerId: string
  readonly personId: string | null
  /** Null: all that the person had to give. */
  readonly scopes: readonly Scope[] | null
}

/**
 * The rights that a person gave to a device, as far as this person still has them: its key is made later than that. None where
 * the account or the person may not act.
 */
export async function rightsByNow(
  { ownerId, personId, scopes }: Given,
  { records }: Pick<Context, 'records'>,
): Promise<Scope[]> {
  const [person, customer] = await Promise.all([
    findPerson(String(personId), { records }),
    findCustomer(records, ownerId),
  ])
  if (person?.status !== 'active' || customer.status !== 'active') return []
  const held = roleScopes[person.role]
  return scopes ? scopes.filter(scope => held.has(scope)) : [...held]
}
