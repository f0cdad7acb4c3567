import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { inSlices, type Sliced } from '../../kernel/contract/time-slices.ts'
import type { PublicKeySet } from '../../ports/signer.ts'
import {
  type Commitments,
  hashesIn,
  originOf,
  TILE_SIZE,
  TrailBroken,
  TrailCheck,
} from '../../trail/index.ts'
import { isPurgeTold, purgedLeaves, purgedSize } from './purged.ts'
import { pagesFrom, readAhead } from './read-ahead.ts'
import { StoredTiles } from './stored-tiles.ts'
import { findStray } from './strays.ts'
import { EVENT_COLUMNS, type EventRow, entryOf } from './trail-rows.ts'

const PAGE = 1_000

interface SealedRow extends EventRow, Commitments {
  readonly position: number
  readonly leaf: Buffer
}

const ROWS = `
select s.position::float8 as position, s.leaf, s.salts, s.commitments, ${EVENT_COLUMNS}
from audit_seals s left join lateral (
  select * from events one where (one.owner_id, one.mode, one.id) = (s.owner_id, s.mode, s.event_id) limit 1
) e on true
where s.owner_id = $1 and s.mode = $2 and s.position >= $3 and s.position < $4 order by s.position`

interface NoteRow extends Record<string, unknown> {
  readonly size: number
  readonly note: string
}

interface SealedPage {
  readonly rows: readonly SealedRow[]
  readonly notes: readonly NoteRow[]
  /** The position after its last entry. */
  readonly end: number
}

const HOLD_PURGES = 'select pg_advisory_xact_lock_shared(hashtextextended($1, 0))'

const NOTES = `
select size::float8 as size, note from audit_checkpoints
where owner_id = $1 and mode = $2 and size > $3 and size <= $4 order by size`

/** Compares all that is stored of a tenant's trail, from its first entry on; throws `TrailBroken` at the first that is wrong. */
export class Verification {
  /** How many checkpoints were compared. */
  checkpoints = 0
  /** How many entries were purged: their hashes are compared. */
  purged = 0
  readonly #sql: Sql
  readonly #tenant: Tenant
  readonly #check: TrailCheck
  readonly #tiles: StoredTiles

  constructor(sql: Sql, tenant: Tenant, keys: PublicKeySet) {
    this.#sql = sql
    this.#tenant = tenant
    this.#check = new TrailCheck(originOf(tenant.ownerId, tenant.mode), keys)
    this.#tiles = new StoredTiles(sql, tenant)
  }

  /** Up to the size of the newest checkpoint. */
  async run(size: number): Promise<void> {
    const { ownerId, mode } = this.#tenant
    // A purge waits until the verification has ended.
    await this.#sql(HOLD_PURGES, [`audit purge ${ownerId} ${mode}`])
    this.purged = await purgedSize(this.#sql, this.#tenant)
    if (!(await isPurgeTold(this.#sql, this.#tenant)))
      throw new TrailBroken(
        0,
        `The first ${this.purged} entries are gone, and no entry tells of their purge.`,
      )
    await this.#readPurged()
    for await (const page of readAhead(pagesFrom(this.purged, size, PAGE), begin =>
      this.#read(begin, size),
    )) {
      await this.#comparePage(page)
      const { size: reached } = this.#check.tree
      if (reached < page.end) throw new TrailBroken(reached, `Entry ${reached} has no seal.`)
      await this.#tiles.compare()
    }
    await this.#compareEnd(size)
  }

  async #read(begin: number, size: number): Promise<SealedPage> {
    const { ownerId, mode } = this.#tenant
    const end = Math.min(begin + PAGE, size)
    const range = [ownerId, mode, begin, end]
    const [rows, notes] = await Promise.all([
      this.#sql<SealedRow>(ROWS, range),
      this.#sql<NoteRow>(NOTES, range),
    ])
    return { rows, notes, end }
  }

  /** The leaves of what was purged are those of the tiles; the checkpoints of later entries tell whether they are right. */
  async #readPurged(): Promise<void> {
    for (let first = 0; first < this.purged; first += TILE_SIZE) {
      const hashes = hashesIn(await purgedLeaves(this.#sql, this.#tenant, first))
      const count = Math.min(TILE_SIZE, this.purged - first)
      if (hashes.length < count)
        throw new TrailBroken(first, `The hashes from entry ${first} on are not stored.`)
      for (const leaf of hashes.slice(0, count)) {
        this.#check.tree.append(leaf)
        this.#tiles.append(leaf)
      }
      await this.#tiles.compare()
    }
  }

  /** The stored hashes tell better than a checkpoint where something was changed. */
  async #comparePage(page: SealedPage): Promise<void> {
    try {
      await inSlices(this.#compare(page))
    } catch (error) {
      await this.#tiles.compare()
      throw error
    }
  }

  *#compare({ rows, notes }: SealedPage): Sliced<void> {
    const noteAt = new Map(notes.map(({ size, note }) => [size, note]))
    for (const row of rows) {
      const { position, leaf, salts, commitments } = row
      const entry = row.id === null ? null : entryOf(row)
      this.#check.entry({ position, leaf, salts, commitments, entry })
      this.#tiles.append(leaf)
      const note = noteAt.get(position + 1)
      if (note !== undefined) {
        this.#check.checkpoint(note)
        this.checkpoints++
      }
      yield
    }
  }

  /** The tree to which the next entries will be appended, and what no seal or no checkpoint knows. */
  async #compareEnd(size: number): Promise<void> {
    const { ownerId, mode } = this.#tenant
    const [[end], stray] = await Promise.all([
      this.#sql<EndRow>(END, [ownerId, mode]),
      findStray(this.#sql, this.#tenant),
    ])
    if (stray) throw new TrailBroken(stray.position, `The event ${stray.id} was added to what was sealed.`)
    const { grown, signed, seals, peaks } = end ?? { grown: 0, signed: 0, seals: 0, peaks: null }
    const least = Math.min(grown, signed, seals)
    if (Math.max(grown, signed, seals) !== least)
      throw new TrailBroken(least, 'The newest checkpoint has not signed all that is sealed.')
    // What was sealed since the verification has begun comes with a tree of its own.
    const own = Buffer.concat(this.#check.tree.peaks())
    if (grown === size && !own.equals(peaks ?? Buffer.alloc(0)))
      throw new TrailBroken(size, 'The stored tree is not that of the newest checkpoint.')
  }
}

interface EndRow extends Record<string, unknown> {
  readonly grown: number
  readonly signed: number
  readonly seals: number
  readonly peaks: Buffer | null
}

const END = `
select coalesce(max(t.size), 0)::float8 as grown, max(t.peaks) as peaks,
  coalesce((select max(size) from audit_checkpoints where owner_id = $1 and mode = $2), 0)::float8 as signed,
  greatest(
    coalesce((select max(position) + 1 from audit_seals where owner_id = $1 and mode = $2), 0),
    coalesce((select max(size) from audit_purges where owner_id = $1 and mode = $2), 0))::float8 as seals
from audit_trees t where t.owner_id = $1 and t.mode = $2`
