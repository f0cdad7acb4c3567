import type { Mode } from '../../kernel/contract/actor.ts'
import type { AuthenticateSecret } from '../../kernel/contract/area.ts'
import type { ReadContext, SqlContext } from '../../kernel/contract/context.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { allScopeNames, type PersonRole, roleScopes, type Scope } from '../../kernel/contract/scopes.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { hashSecret } from '../../kernel/database/credential.ts'
import { clock } from '../../values/clock.ts'
import { findCustomer } from '../customers/index.ts'
import { findPerson } from '../people/index.ts'

/** Without scopes of its own, it has those of its person, or of an owner. */
interface ScopedSecret {
  readonly scopes: readonly string[] | null
  readonly role: PersonRole | null
}

interface CredentialRow extends Record<string, unknown>, ScopedSecret {
  id: string
  owner_id: string
  mode: Mode
  first_id: string | null
  agent_id: string | null
  delegation_id: string | null
  budget_id: string | null
  bound_to: string | null
  person_id: string | null
  made_by_person_id: string | null
  only_at: string | null
  own_mandate_id: string | null
  tool_writes: boolean
  is_active: boolean
}

interface Columns {
  /** The first of the keys that have replaced each other. */
  readonly first: string
  readonly agent: string
  readonly delegation: string
  readonly budget: string
  readonly boundTo: string
  /** The path of the only operation that accepts the secret; null if every operation does. */
  readonly onlyAt: string
  /** The only mandate that approves what a secret with `onlyAt` spends; null if it has none. */
  readonly ownMandate: string
  readonly madeByPerson: string
  /** The role of the person whose scopes bound those of the secret; null without a person. */
  readonly role: string
  readonly toolWrites: string
  readonly joins: string
  readonly isOpen: string
}

type OfAgent = Pick<Columns, 'agent' | 'delegation' | 'budget' | 'boundTo' | 'onlyAt' | 'ownMandate'>

const WITHOUT_PERSON = {
  first: 'null::text',
  toolWrites: 'false',
  madeByPerson: 'null::text',
  role: 'null::text',
  joins: '',
  isOpen: 'true',
}

/** A key `s` that a person `p` gave to a device ends with the person, and after some days without use. */
const KEY_IS_OPEN = `(s.person_id is null or p.status = 'active') and (s.idle_days is null
    or coalesce(s.last_used_at, s.created_at) > $2::timestamptz - s.idle_days * interval '1 day')`

const OF_OWNER: Columns = {
  first: 's.first_id',
  agent: 'null::text',
  delegation: 'null::text',
  budget: 'null::text',
  boundTo: 's.bound_to',
  onlyAt: 'null::text',
  ownMandate: 'null::text',
  toolWrites: 's.tool_writes',
  madeByPerson: 's.made_by_person_id',
  role: 'p.role',
  joins: 'left join people p on (p.owner_id, p.mode, p.id) = (s.owner_id, s.mode, s.person_id)',
  isOpen: KEY_IS_OPEN,
}

/**
 * Finds a secret by its hash and records its use, in one statement. Records the use once a minute, and skips
 * a locked row, so that authentication never waits for a lock.
 */
const statement = (table: string, columns: Columns): string => `
with holder as (
  select s.id, s.owner_id, s.mode, ${columns.first} as first_id, ${columns.agent} as agent_id, ${columns.delegation} as delegation_id,
    ${columns.budget} as budget_id, ${columns.boundTo} as bound_to, ${columns.onlyAt} as only_at,
    ${columns.ownMandate} as own_mandate_id, s.person_id, ${columns.madeByPerson} as made_by_person_id,
    ${columns.role} as role, ${columns.toolWrites} as tool_writes,
    s.scopes, c.status = 'active' as is_active
  from ${table} s
  join customers c on c.id = s.owner_id ${columns.joins}
  where s.hash = $1 and s.revoked_at is null and (s.expires_at is null or s.expires_at > $2::timestamptz)
    and ${columns.isOpen}
), used as (
  update ${table} set last_used_at = $2
  where (owner_id, mode, id) = (
    select s.owner_id, s.mode, s.id from ${table} s join holder using (owner_id, mode, id)
    where is_active and (s.last_used_at is null or s.last_used_at <= $2::timestamptz - interval '1 minute')
    for no key update of s skip locked
  )
)
select * from holder`

const allScopes: ReadonlySet<string> = new Set(allScopeNames)

const findIn = async (sql: Sql, text: string, secret: string): Promise<CredentialRow | undefined> =>
  (await sql<CredentialRow>(text, [hashSecret(secret), clock.real()]))[0]

/** Limits the scopes of a device's secret to those that its person still has. */
function scopesOf({ scopes: granted, role }: ScopedSecret): ReadonlySet<string> {
  if (!role) return granted ? new Set(granted) : allScopes
  const allowed: ReadonlySet<string> = roleScopes[role]
  return granted ? new Set(granted.filter(scope => allowed.has(scope))) : allowed
}

/** Authenticates by the secrets of a table. A suspended customer gets an error of its own, not `unauthenticated`. */
export function secretAuthenticator(
  type: 'key' | 'agent',
  table: string,
  ofAgent?: OfAgent,
): AuthenticateSecret {
  const text = statement(table, ofAgent ? { ...WITHOUT_PERSON, ...ofAgent } : OF_OWNER)
  return async (secret, sql) => {
    const holder = await findIn(sql, text, secret)
    if (holder && !holder.is_active) throw new Problem('account_suspended')
    return (
      holder && {
        type,
        id: holder.id,
        tenant: { ownerId: holder.owner_id, mode: holder.mode },
        ...(holder.first_id && { firstId: holder.first_id }),
        agentId: holder.agent_id,
        delegationId: holder.delegation_id,
        budgetId: holder.budget_id,
        boundTo: holder.bound_to,
        personId: holder.person_id,
        ...(holder.made_by_person_id ? { madeByPersonId: holder.made_by_person_id } : {}),
        ...(holder.only_at ? { onlyAt: holder.only_at, ownMandateId: holder.own_mandate_id } : {}),
        scopes: scopesOf(holder),
        ...(holder.tool_writes ? { toolWrites: true } : {}),
      }
    )
  }
}

const currentHoldersSql = (tokens: string): string => `
select s.id, s.scopes, s.role from (
  select s.owner_id, s.id, s.scopes, p.role from keys s
  left join people p on (p.owner_id, p.mode, p.id) = (s.owner_id, s.mode, s.person_id)
  where (s.owner_id, s.mode) = ($3, $4) and s.id = any($1::text[]) and s.revoked_at is null
    and (s.expires_at is null or s.expires_at > $2::timestamptz) and ${KEY_IS_OPEN}
  union all
  select s.owner_id, s.id, null, s.role from people s
  where (s.owner_id, s.mode) = ($3, $4) and s.id = any($1::text[]) and s.status = 'active'
  union all ${tokens}
) s
join customers c on c.id = s.owner_id and c.status = 'active'`

/**
 * Finds the keys and people of these ids that may call now, and the tokens that the statement `tokens` selects by `$1` (ids),
 * `$2` (now), `$3` and `$4` (the tenant).
 */
export async function currentHolders(
  ids: readonly string[],
  tokens: string,
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<readonly { readonly id: string; readonly scopes: ReadonlySet<string> }[]> {
  const rows = await sql<CredentialRow>(currentHoldersSql(tokens), [ids, clock.real(), ownerId, mode])
  return rows.map(row => ({ id: row.id, scopes: scopesOf(row) }))
}

interface GrantedScopes {
  readonly ownerId: string
  readonly personId: string | null
  /** Null means all scopes of the person. */
  readonly scopes: readonly Scope[] | null
}

/**
 * The scopes that a person granted to a device, limited to those that the person still has when the key is
 * created. Empty if the account or the person is blocked.
 */
export async function currentDeviceScopes(
  { ownerId, personId, scopes }: GrantedScopes,
  context: ReadContext,
): Promise<Scope[]> {
  const [person, customer] = await Promise.all([
    findPerson(String(personId), context),
    findCustomer(context.em, ownerId),
  ])
  if (person?.status !== 'active' || customer.status !== 'active') return []
  const held = roleScopes[person.role]
  return scopes ? scopes.filter(scope => held.has(scope)) : [...held]
}
