import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import {
  completeRoot,
  GrowingTree,
  HASH_BYTES,
  type Hash,
  hashesIn,
  hashIn,
  type Node,
  TILE_SIZE,
  type Tile,
  TrailBroken,
  tileOf,
} from '../../trail/index.ts'

interface TreeRow extends Tenant, Record<string, unknown> {
  readonly size: bigint
  readonly peaks: Buffer
}

const TREES = `
select owner_id as "ownerId", mode, size, peaks from audit_trees
where (owner_id, mode) in (select * from unnest($1::text[], $2::text[]))`

export const auditTrailName = ({ ownerId, mode }: Tenant): string => `${ownerId} ${mode}`

export async function readAuditTrees(
  sql: Sql,
  tenants: readonly Tenant[],
): Promise<Map<string, GrowingTree>> {
  const owners = tenants.map(({ ownerId }) => ownerId)
  const rows = await sql<TreeRow>(TREES, [owners, tenants.map(({ mode }) => mode)])
  return new Map(
    rows.map(row => [auditTrailName(row), new GrowingTree(Number(row.size), hashesIn(row.peaks))]),
  )
}

interface FoundHashes extends Record<string, unknown> {
  readonly hashes: Buffer | null
}

/**
 * The hashes of an incomplete tile up to a position: for leaves those of the seals, after those that a purge
 * left; above, the roots of the tiles below.
 */
const LEAVES = `
select coalesce((
    select edge from audit_purges where owner_id = $1 and mode = $2 and size - size % ${TILE_SIZE} = $3
    order by size desc limit 1), '') ||
  coalesce(string_agg(leaf, '' order by position), '') as hashes from seals_between($1, $2, $3, $4)`

const ROOTS = `
select string_agg(root, '' order by index) as hashes from audit_tiles
where owner_id = $1 and mode = $2 and level = $3 and index >= $4 and index < $5`

const stored = async (sql: Sql, text: string, values: readonly unknown[]): Promise<Buffer> =>
  (await sql<FoundHashes>(text, values))[0]?.hashes ?? Buffer.alloc(0)

const leavesOf = (sql: Sql, { ownerId, mode }: Tenant, from: number, to: number): Promise<Buffer> =>
  stored(sql, LEAVES, [ownerId, mode, from, to])

const rootsOf = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  level: number,
  from: number,
  to: number,
): Promise<Buffer> => stored(sql, ROOTS, [ownerId, mode, level, from, to])

export interface StoredTreeTile extends Tile, Tenant {
  readonly hashes: Buffer
  readonly root: Hash
}

export async function buildNewTiles(
  sql: Sql,
  tenant: Tenant,
  size: number,
  leaves: readonly Hash[],
): Promise<StoredTreeTile[]> {
  const tiles: StoredTreeTile[] = []
  const before = (from: number) => leavesOf(sql, tenant, from, size)
  let made = await completed(size, leaves, before)
  for (let level = 0; made.length > 0; level++) {
    const found = made.map(tile => ({ ...tenant, level, ...tile, root: completeRoot(tile.hashes) }))
    tiles.push(...found)
    const first = found[0]?.index ?? 0
    made = await completed(
      first,
      found.map(({ root }) => root),
      from => rootsOf(sql, tenant, level, from, first),
    )
  }
  return tiles
}

/** The tiles of one level that become complete when these hashes follow the first `size`. */
async function completed(
  size: number,
  hashes: readonly Hash[],
  before: (from: number) => Promise<Buffer>,
): Promise<{ index: number; hashes: Buffer }[]> {
  const first = size - (size % TILE_SIZE)
  const count = Math.floor((size + hashes.length - first) / TILE_SIZE)
  if (count === 0) return []
  const known = first === size ? Buffer.alloc(0) : await before(first)
  if (known.length !== (size - first) * HASH_BYTES)
    throw new Error(`the trail has lost hashes between ${first} and ${size}: GET /audit/verify tells where`)
  const all = Buffer.concat([known, ...hashes])
  const bytes = TILE_SIZE * HASH_BYTES
  return Array.from({ length: count }, (_, n) => ({
    index: first / TILE_SIZE + n,
    hashes: all.subarray(n * bytes, (n + 1) * bytes),
  }))
}

interface TileRow extends Tile, Record<string, unknown> {
  readonly hashes: Buffer
}

const TILES = `
select level, index::int4 as index, hashes from audit_tiles
where (owner_id, mode) = ($1, $2) and (level, index) in (select * from unnest($3::int2[], $4::int8[]))
union all
select level, index, hashes from unnest($5::int2[], $6::int8[], $7::int8[]) as part (level, index, until),
  lateral (
    select string_agg(hash, '' order by at) as hashes from (
      (select edge as hash, -1::bigint as at from audit_purges
        where part.level = 0 and (owner_id, mode) = ($1, $2) and size - size % ${TILE_SIZE} = part.index * ${TILE_SIZE}
        order by size desc limit 1)
      union all
      select leaf as hash, position as at from seals_between($1, $2, part.index * ${TILE_SIZE}, part.until)
      where part.level = 0
      union all
      select root, index from audit_tiles below
      where part.level > 0 and (owner_id, mode) = ($1, $2) and below.level = part.level - 1
        and below.index >= part.index * ${TILE_SIZE} and below.index < part.until
    ) as hashes
  ) as found`

/** Reads the hashes needed for these complete subtrees of a tree of this size, in one statement. */
export async function readTreeNodes(
  sql: Sql,
  { ownerId, mode }: Tenant,
  size: number,
  nodes: readonly Node[],
): Promise<(node: Node) => Hash> {
  const tiles = [...new Map(nodes.map(tileOf).map(tile => [keyOf(tile), tile])).values()]
  const isComplete = ({ level, index }: Tile) => (index + 1) * TILE_SIZE ** (level + 1) <= size
  const whole = tiles.filter(isComplete)
  const parts = tiles.filter(tile => !isComplete(tile))
  const rows = await sql<TileRow>(TILES, [
    ownerId,
    mode,
    whole.map(({ level }) => level),
    whole.map(({ index }) => index),
    parts.map(({ level }) => level),
    parts.map(({ index }) => index),
    parts.map(({ level }) => Math.floor(size / TILE_SIZE ** level)),
  ])
  const hashes = new Map(rows.map(row => [keyOf({ level: row.level, index: Number(row.index) }), row.hashes]))
  return node => hashIn(hashes.get(keyOf(tileOf(node))) ?? Buffer.alloc(0), node)
}

const keyOf = ({ level, index }: Tile): string => `${level}/${index}`

interface FoundTile extends Record<string, unknown> {
  readonly level: number
  readonly index: number
  readonly hashes: Buffer
  readonly root: Buffer
}

const STORED_TILES = `
select level, index::float8 as index, hashes, root from audit_tiles
where owner_id = $1 and mode = $2 and level = $3 and index >= $4 and index < $5 order by index`

export class StoredTreeTiles {
  readonly #sql: Sql
  readonly #tenant: Tenant
  /** By level: the number of compared tiles, and the hashes not yet compared. */
  readonly #levels: { compared: number; hashes: Hash[] }[] = [{ compared: 0, hashes: [] }]

  constructor(sql: Sql, tenant: Tenant) {
    this.#sql = sql
    this.#tenant = tenant
  }

  append(leaf: Hash): void {
    this.#levels[0]?.hashes.push(leaf)
  }

  async compare(): Promise<void> {
    for (const [level, { compared, hashes }] of this.#levels.entries()) {
      const count = Math.floor(hashes.length / TILE_SIZE)
      if (count === 0) return
      const rows = await this.#read(level, compared, compared + count)
      const above = this.#levels[level + 1] ?? { compared: 0, hashes: [] }
      this.#levels[level + 1] = above
      for (let n = 0; n < count; n++) {
        const computed = Buffer.concat(hashes.slice(n * TILE_SIZE, (n + 1) * TILE_SIZE))
        above.hashes.push(compareTile(computed, { level, index: compared + n }, rows[n]))
      }
      this.#levels[level] = { compared: compared + count, hashes: hashes.slice(count * TILE_SIZE) }
    }
  }

  #read(level: number, from: number, to: number): Promise<FoundTile[]> {
    const { ownerId, mode } = this.#tenant
    return this.#sql<FoundTile>(STORED_TILES, [ownerId, mode, level, from, to])
  }
}

function compareTile(
  computed: Buffer,
  { level, index }: Pick<FoundTile, 'level' | 'index'>,
  stored: FoundTile | undefined,
): Hash {
  const below = TILE_SIZE ** level
  const first = index * TILE_SIZE * below
  if (stored?.index !== index)
    throw new TrailBroken(first, `The hashes from entry ${first} on are not stored.`)
  const root = completeRoot(computed)
  if (computed.equals(stored.hashes) && root.equals(stored.root)) return root
  const kept = hashesIn(stored.hashes)
  const wrong = hashesIn(computed).findIndex((hash, n) => !kept[n]?.equals(hash))
  const position = first + Math.max(wrong, 0) * below
  throw new TrailBroken(position, `A stored hash of the tree does not match the entries from ${position} on.`)
}
