import type { Authenticate } from '../../kernel/contract/area.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { hashOf } from '../../kernel/database/credential.ts'
import { clock } from '../../values/clock.ts'
import { platform } from './application.ts'

/** Finds a key of a merchant that is let in, and records its use once a minute without waiting for a lock. */
const FIND = `
with holder as (
  select s.owner_id, s.mode, s.id, s.last_used_at from merchant_keys s
  join merchant_applications a on (a.owner_id, a.mode, a.id) = (s.owner_id, s.mode, s.merchant_id)
  where s.hash = $1 and s.revoked_at is null and (s.expires_at is null or s.expires_at > $2::timestamptz)
    and a.status = 'approved'
), used as (
  update merchant_keys set last_used_at = $2
  where (owner_id, mode, id) = (
    select s.owner_id, s.mode, s.id from merchant_keys s join holder using (owner_id, mode, id)
    where s.last_used_at is null or s.last_used_at <= $2::timestamptz - interval '1 minute'
    for no key update of s skip locked
  )
)
select id from holder`

const NO_SCOPES: ReadonlySet<string> = new Set()

/** A merchant has no scopes: its key opens what is the merchant's own, and nothing else. */
export const authenticateMerchant: Authenticate = async (secret, sql) => {
  const [key] = await sql<{ readonly id: string } & Row>(FIND, [hashOf(secret), clock.real()])
  return key && { type: 'merchant', id: key.id, tenant: platform, agentId: null, scopes: NO_SCOPES }
}
