import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { TILE_SIZE } from '../../trail/index.ts'

const SIZE = `
select coalesce(max(size), 0)::float8 as size from audit_purges where owner_id = $1 and mode = $2 and id <> $3`

/** How many entries from the first one on were purged, but for what this purge has removed. */
export const purgedSizeBefore = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  purgeId: string,
): Promise<number> => (await sql<{ size: number }>(SIZE, [ownerId, mode, purgeId]))[0]?.size ?? 0

/** How many entries from the first one on were purged. */
export const purgedSize = (sql: Sql, tenant: Tenant): Promise<number> => purgedSizeBefore(sql, tenant, '')

const PURGED_LEAVES = `
select coalesce(
  (select hashes from audit_tiles where owner_id = $1 and mode = $2 and level = 0 and index = $3),
  (select edge from audit_purges where owner_id = $1 and mode = $2 and size / ${TILE_SIZE} = $3
    order by size desc limit 1), '') as hashes`

/** The hashes of the leaves from a position on, up to the end of its tile or of what was purged. */
export const purgedLeaves = async (sql: Sql, { ownerId, mode }: Tenant, first: number): Promise<Buffer> =>
  (await sql<{ hashes: Buffer }>(PURGED_LEAVES, [ownerId, mode, first / TILE_SIZE]))[0]?.hashes ??
  Buffer.alloc(0)

const TOLD = `
select p.size::float8 as size, exists (
  select from events e where e.owner_id = $1 and e.mode = $2 and e.event = 'audit.purged'
    and e.data ->> 'purgeId' = p.id and e.data ->> 'size' = p.size::text) as told
from audit_purges p where p.owner_id = $1 and p.mode = $2 order by p.size desc limit 1`

/**
 * Whether the trail tells of its last purge, which leaves an entry that is far too young to be purged itself. Where it does
 * not, entries are gone that no purge has removed.
 */
export async function isPurgeTold(sql: Sql, { ownerId, mode }: Tenant): Promise<boolean> {
  const [last] = await sql<{ told: boolean }>(TOLD, [ownerId, mode])
  return last?.told ?? true
}
