import { instant } from '../../values/clock.ts'
import type { Tenant } from '../contract/actor.ts'
import type { Row, Sql } from '../contract/sql.ts'

/** A member of answers that read the audit trail, of which old entries may have been purged. */
export const completeFrom = instant.nullable().meta({
  description:
    'What was written before this was purged from the audit trail after its retention, and is missing here; null where nothing was.',
})

/** A purge removes nothing that was written at its instant or later. */
const PURGED = 'select max(before) as before from audit_purges where owner_id = $1 and mode = $2'

/** From when on the trail of a tenant is complete; null: from its beginning. */
export async function readCompleteFrom(sql: Sql, { ownerId, mode }: Tenant): Promise<Date | null> {
  const [row] = await sql<{ before: Date | null } & Row>(PURGED, [ownerId, mode])
  return row?.before ?? null
}

/** A page of what reads the trail, with that; both are asked for at once. */
export async function withCompleteFrom<T extends object>(page: Promise<T>, sql: Sql, tenant: Tenant) {
  const [shown, from] = await Promise.all([page, readCompleteFrom(sql, tenant)])
  return { ...shown, completeFrom: from }
}
