import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { clock } from '../../values/clock.ts'
import { Passkey } from './passkey.ts'
import { eventOf, type passkeyEvents } from './schemas.ts'

/** How a tenant stands with passkeys. */
export interface PasskeyStanding {
  /** Whether there has ever been one, revoked since or not. */
  readonly everEnrolled: boolean
  /** How many are not revoked. */
  readonly active: number
  /** The people who have one. */
  readonly personIds: readonly string[]
}

const STANDING = `
select count(*) > 0 as "everEnrolled", (count(*) filter (where revoked_at is null))::int as active,
  coalesce(array_agg(distinct person_id) filter (where revoked_at is null), '{}') as "personIds"
from passkeys where owner_id = $1 and mode = $2`

export async function passkeyStanding(sql: Sql, { ownerId, mode }: Tenant): Promise<PasskeyStanding> {
  const [row] = await sql<PasskeyStanding & Row>(STANDING, [ownerId, mode])
  return row as PasskeyStanding
}

/** Serializes what changes the set of a tenant's passkeys. Take it before people and passkeys are locked. */
export const lockPasskeys = (context: Pick<Context, 'sql' | 'tenant'>): Promise<unknown> =>
  lockTenant(context, 'passkeys')

type Revoking = Pick<Context<never, Pick<typeof passkeyEvents, 'passkey.revoked'>>, 'records' | 'emit'>

/** Revokes a passkey under `lockPasskeys`, or one that is locked itself. */
export function revoke(passkey: Passkey, { emit }: Pick<Revoking, 'emit'>): void {
  passkey.revokedAt = clock.real()
  emit('passkey.revoked', eventOf(passkey))
}

/** Revokes all passkeys of a person. Where the last one must stay, take `lockPasskeys` before. */
export async function revokeAllOf(personId: string, context: Revoking): Promise<void> {
  const own = { personId, revokedAt: null }
  const passkeys = await context.records.find(Passkey, own, { orderBy: { id: 'asc' }, lock: true })
  for (const passkey of passkeys) revoke(passkey, context)
}
