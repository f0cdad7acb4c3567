import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { completeRoot, type Hash, hashesIn, TILE_SIZE, TrailBroken } from '../../trail/index.ts'

interface TileRow extends Record<string, unknown> {
  readonly level: number
  readonly index: number
  readonly hashes: Buffer
  readonly root: Buffer
}

const TILES = `
select level, index::float8 as index, hashes, root from audit_tiles
where owner_id = $1 and mode = $2 and level = $3 and index >= $4 and index < $5 order by index`

/** The tiles that the leaves so far must have, to be compared with those that are stored. */
export class StoredTiles {
  readonly #sql: Sql
  readonly #tenant: Tenant
  /** By level: how many tiles were compared, and the hashes of those that were not. */
  readonly #levels: { compared: number; hashes: Hash[] }[] = [{ compared: 0, hashes: [] }]

  constructor(sql: Sql, tenant: Tenant) {
    this.#sql = sql
    this.#tenant = tenant
  }

  append(leaf: Hash): void {
    this.#levels[0]?.hashes.push(leaf)
  }

  /** Compares the tiles that have become complete; throws `TrailBroken` at the first hash that is wrong. */
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

  #read(level: number, from: number, to: number): Promise<TileRow[]> {
    const { ownerId, mode } = this.#tenant
    return this.#sql<TileRow>(TILES, [ownerId, mode, level, from, to])
  }
}

/** Gives the root of the tile. */
function compareTile(
  computed: Buffer,
  { level, index }: Pick<TileRow, 'level' | 'index'>,
  stored: TileRow | undefined,
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
  throw new TrailBroken(position, `A stored hash of the tree is not that of the entries from ${position} on.`)
}
