import { randomFillSync } from 'node:crypto'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { runInSlices, type SlicedWork } from '../../kernel/contract/time-slices.ts'
import { onConnection } from '../../kernel/database/connection.ts'
import { type Database, sqlOn } from '../../kernel/database/prepared-sql.ts'
import type { Signer } from '../../ports/signer.ts'
import {
  type Commitments,
  checkpointText,
  commitTo,
  GrowingTree,
  type Hash,
  leafHash,
  originOf,
  TILE_SIZE,
} from '../../trail/index.ts'
import { clock } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { type AuditEventRow, trailEntryFromEvent } from './entries.ts'
import { auditTrailName, buildNewTiles, readAuditTrees, type StoredTreeTile } from './tree-store.ts'
import {
  lockSealingPosition,
  moveSealingPosition,
  readUnsealedEvents,
  type UnsealedEvents,
} from './unsealed.ts'

const PAGE = 1_000

export interface SealerParts {
  readonly database: Database
  readonly signer: Signer
}

interface SealedRow extends Commitments, Tenant {
  readonly position: number
  /** The entries of a range are stored as one row. */
  readonly range: string
  readonly isLate: boolean
  readonly writtenIn: string
  readonly eventId: string
  readonly leaf: string
}

interface Growth {
  readonly tenant: Tenant
  readonly size: number
  readonly tree: GrowingTree
  readonly leaves: Hash[]
}

/**
 * Seals up to one page of committed events and returns whether there may be more. One transaction claims,
 * appends and signs: a killed sealer leaves nothing behind, and of two concurrent ones the second finds no
 * work.
 */
export async function sealNextPage({ database, signer }: SealerParts, most = PAGE): Promise<boolean> {
  return onConnection(database, 'begin', async client => {
    const sql = sqlOn(client)
    const from = await lockSealingPosition(sql)
    const unsealed = from && (await readUnsealedEvents(sql, from, most))
    if (unsealed && unsealed.late.length + unsealed.fresh.length > 0) {
      await seal(sql, unsealed, signer)
      await moveSealingPosition(sql, unsealed.upTo)
    }
    await client.query('commit')
    return unsealed?.isFull ?? false
  })
}

async function seal(sql: Sql, { late, fresh }: UnsealedEvents, signer: Signer): Promise<void> {
  const events = [...late, ...fresh]
  const tenants = [
    ...new Map(events.map(({ ownerId, mode }) => [`${ownerId} ${mode}`, { ownerId, mode }])).values(),
  ]
  const trees = await readAuditTrees(sql, tenants)
  const growths = new Map(
    tenants.map(tenant => {
      const tree = trees.get(auditTrailName(tenant)) ?? new GrowingTree()
      return [auditTrailName(tenant), { tenant, size: tree.size, tree, leaves: [] }]
    }),
  )
  const seals = await runInSlices(sealed(events, late.length, growths))
  const tiles: StoredTreeTile[] = []
  for (const { tenant, size, leaves } of growths.values())
    tiles.push(...(await buildNewTiles(sql, tenant, size, leaves)))
  await sql(STORE_SEALS, [JSON.stringify(seals)])
  if (tiles.length > 0) await storeTiles(sql, tiles)
  await storeTrees(sql, [...growths.values()], signer)
}

/** The first `lateCount` events are late: each of their transactions has a range of its own. */
function* sealed(
  events: readonly AuditEventRow[],
  lateCount: number,
  growths: ReadonlyMap<string, Growth>,
): SlicedWork<SealedRow[]> {
  const rows: SealedRow[] = []
  for (const [n, event] of events.entries()) {
    const growth = growths.get(auditTrailName(event))
    if (!growth) throw new Error(`no tree was read for ${auditTrailName(event)}`)
    const entry = trailEntryFromEvent(event)
    const commitments = commitTo(entry, randomBytes)
    const leaf = leafHash(entry, commitments)
    const { tenant, tree, leaves } = growth
    const isLate = n < lateCount
    rows.push({
      ...tenant,
      position: tree.size,
      range: `${isLate ? event.writtenIn : ''}/${Math.floor(tree.size / TILE_SIZE)}`,
      isLate,
      writtenIn: event.writtenIn,
      eventId: event.id,
      leaf: leaf.toString('base64'),
      ...commitments,
    })
    tree.append(leaf)
    leaves.push(leaf)
    yield
  }
  return rows
}

const POOL = Buffer.alloc(4_096)
let used = POOL.length

function randomBytes(count: number): Buffer {
  if (used + count > POOL.length) {
    randomFillSync(POOL)
    used = 0
  }
  used += count
  return Buffer.from(POOL.subarray(used - count, used))
}

const STORE_SEALS = `
insert into audit_seals (owner_id, mode, position, event_ids, leaves, salts, commitments, first_written_in,
  last_written_in, is_late)
select "ownerId", mode, min(position), array_agg("eventId" order by position),
  array_agg(decode(leaf, 'base64') order by position), array_agg(salts order by position),
  array_agg(commitments order by position), min("writtenIn"), max("writtenIn"), "isLate"
from jsonb_to_recordset($1::jsonb) as r("ownerId" text, mode text, range text, "isLate" boolean, position bigint,
  "writtenIn" bigint, "eventId" text, leaf text, salts jsonb, commitments jsonb)
group by "ownerId", mode, range, "isLate"`

const STORE_TILES = `
insert into audit_tiles (owner_id, mode, level, index, hashes, root)
select * from unnest($1::text[], $2::text[], $3::int2[], $4::int8[], $5::bytea[], $6::bytea[])`

const storeTiles = (sql: Sql, tiles: readonly StoredTreeTile[]): Promise<unknown> =>
  sql(STORE_TILES, [
    tiles.map(({ ownerId }) => ownerId),
    tiles.map(({ mode }) => mode),
    tiles.map(({ level }) => level),
    tiles.map(({ index }) => index),
    tiles.map(({ hashes }) => hashes),
    tiles.map(({ root }) => root),
  ])

const STORE_TREES = `
with grown as (
  select "ownerId", mode, id, at, size, decode(peaks, 'base64') as peaks, note
  from jsonb_to_recordset($1::jsonb) as r("ownerId" text, mode text, id text, at timestamptz, size bigint, peaks text,
    note text)
), trees as (
  insert into audit_trees (owner_id, mode, size, peaks) select "ownerId", mode, size, peaks from grown
  on conflict (owner_id, mode) do update set size = excluded.size, peaks = excluded.peaks
)
insert into audit_checkpoints (owner_id, mode, id, created_at, size, note)
select "ownerId", mode, id, at, size, note from grown`

async function storeTrees(sql: Sql, growths: readonly Growth[], signer: Signer): Promise<void> {
  const at = clock.real()
  const rows = await Promise.all(
    growths.map(async ({ tenant, tree }) => {
      const { size } = tree
      const root = tree.root()
      const origin = originOf(tenant.ownerId, tenant.mode)
      return {
        ...tenant,
        id: newId('checkpoint'),
        at,
        size,
        peaks: Buffer.concat(tree.peaks()).toString('base64'),
        note: await signer.signNote(origin, checkpointText({ origin, size, root })),
      }
    }),
  )
  await sql(STORE_TREES, [JSON.stringify(rows)])
}
