import type { Mode } from '../../kernel/contract/actor.ts'
import type { Authenticate } from '../../kernel/contract/area.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { type Role, roleScopes } from '../../kernel/contract/scopes.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { hashOf } from '../../kernel/database/credential.ts'
import { after, clock } from '../../values/clock.ts'
import { IDLE_ENDS_MS } from './session.ts'

interface SessionRow extends Row {
  readonly id: string
  readonly owner_id: string
  readonly mode: Mode
  readonly person_id: string
  readonly name: string
  readonly role: Role
  readonly is_active: boolean
}

/** Activity is noted when the last note of it is older: a page that sends ten requests at once costs one. */
const NOTED_EVERY_MS = 1_000

/**
 * Finds a session that has not ended, by its hash, with its person, and notes that somebody is there, in one statement. The
 * note is left out where the row is locked: authentication never waits for a lock.
 */
const FIND = `
with holder as (
  select s.id, s.owner_id, s.mode, s.person_id, p.name, p.role, c.status = 'active' as is_active
  from console_sessions s
  join people p on (p.owner_id, p.mode, p.id) = (s.owner_id, s.mode, s.person_id) and p.status = 'active'
  join customers c on c.id = s.owner_id
  where s.hash = $1 and s.revoked_at is null and s.expires_at > $2::timestamptz
    and (s.mode = 'test' or s.last_used_at > $3::timestamptz)
), noted as (
  update console_sessions set last_used_at = $2
  where (owner_id, mode, id) = (
    select s.owner_id, s.mode, s.id from console_sessions s join holder using (owner_id, mode, id)
    where is_active and s.last_used_at <= $4::timestamptz
    for no key update of s skip locked
  )
)
select * from holder`

/** Before every instant of ours: nothing was noted so long ago. */
const NEVER = new Date(0)

/** The person of a session, with the scopes of the role that the person has now. */
export const authenticateSession: Authenticate = async (secret, sql, isBackground) => {
  const now = clock.real()
  const [holder] = await sql<SessionRow>(FIND, [
    hashOf(secret),
    now,
    after(now, -IDLE_ENDS_MS),
    isBackground ? NEVER : after(now, -NOTED_EVERY_MS),
  ])
  if (holder && !holder.is_active) throw new Problem('account_suspended')
  return (
    holder && {
      type: 'console',
      id: holder.person_id,
      tenant: { ownerId: holder.owner_id, mode: holder.mode },
      agentId: null,
      scopes: roleScopes[holder.role],
      sessionId: holder.id,
      name: holder.name,
    }
  )
}
