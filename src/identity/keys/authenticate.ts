import type { Mode } from '../../kernel/contract/actor.ts'
import type { Authenticate } from '../../kernel/contract/area.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { scopes } from '../../kernel/contract/scopes.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { hashOf } from '../../kernel/database/credential.ts'
import { clock } from '../../values/clock.ts'

interface CredentialRow extends Record<string, unknown> {
  id: string
  owner_id: string
  mode: Mode
  agent_id: string | null
  delegation_id: string | null
  budget_id: string | null
  scopes: string[] | null
  is_active: boolean
}

/** SQL expressions for the records that a secret is limited to. */
interface Columns {
  readonly agent: string
  readonly delegation: string
  /** The id of the secret's own budget, if it has one. */
  readonly budget: string
}

const WHOLE_TENANT: Columns = { agent: 'null::text', delegation: 'null::text', budget: 'null::text' }

/**
 * Finds a secret by its hash and records its use, in one statement. The use is recorded once a minute, and skipped if the
 * row is locked, so that authentication never waits for a lock.
 */
const statement = (table: string, { agent, delegation, budget }: Columns): string => `
with holder as (
  select s.id, s.owner_id, s.mode, ${agent} as agent_id, ${delegation} as delegation_id, ${budget} as budget_id,
    s.scopes, c.status = 'active' as is_active
  from ${table} s
  join customers c on c.id = s.owner_id
  where s.hash = $1 and s.revoked_at is null and (s.expires_at is null or s.expires_at > $2::timestamptz)
), used as (
  update ${table} set last_used_at = $2
  where (owner_id, mode, id) = (
    select s.owner_id, s.mode, s.id from ${table} s join holder using (owner_id, mode, id)
    where is_active and (s.last_used_at is null or s.last_used_at <= $2::timestamptz - interval '1 minute')
    for no key update of s skip locked
  )
)
select * from holder`

const allScopes: ReadonlySet<string> = new Set(scopes)

const findIn = async (sql: Sql, text: string, secret: string): Promise<CredentialRow | undefined> =>
  (await sql<CredentialRow>(text, [hashOf(secret), clock.real()]))[0]

/** Authenticates by the secrets of a table. A suspended customer gets an error of its own, not `unauthenticated`. */
export function authenticator(type: 'key' | 'agent', table: string, columns = WHOLE_TENANT): Authenticate {
  const text = statement(table, columns)
  return async (secret, sql) => {
    const holder = await findIn(sql, text, secret)
    if (holder && !holder.is_active) throw new Problem('account_suspended')
    return (
      holder && {
        type,
        id: holder.id,
        tenant: { ownerId: holder.owner_id, mode: holder.mode },
        agentId: holder.agent_id,
        delegationId: holder.delegation_id,
        budgetId: holder.budget_id,
        scopes: holder.scopes ? new Set(holder.scopes) : allScopes,
      }
    )
  }
}
