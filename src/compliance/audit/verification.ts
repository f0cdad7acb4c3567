import type { Tenant } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { runInSlices, type SlicedWork } from '../../kernel/contract/time-slices.ts'
import type { PublicKeySet } from '../../ports/signer.ts'
import {
  type Commitments,
  hashesIn,
  originOf,
  TILE_SIZE,
  TrailBroken,
  TrailCheck,
} from '../../trail/index.ts'
import type { auditApi } from './api.ts'
import { latestCheckpoint } from './checkpoint.ts'
import {
  AUDIT_EVENT_COLUMNS,
  type AuditEventRow,
  pageStarts,
  readAhead,
  trailEntryFromEvent,
} from './entries.ts'
import { isPurgeRecorded, purgedTreeSize, readPurgedLeaves } from './purge.ts'
import { StoredTreeTiles } from './tree-store.ts'
import { readUnsealedTail } from './unsealed.ts'

export const verifyTrail: HandlerOf<typeof auditApi.verify> = async (_, context) => {
  const { tenant, systems, withExclusiveRead, refuse } = context
  const keys = { keys: systems.signer.publicKeys() }
  const found = await withExclusiveRead(`verify the trail of ${tenant.ownerId} ${tenant.mode}`, async sql => {
    const checkpoint = (await latestCheckpoint(sql, tenant)) ?? null
    const verification = new Verification(sql, tenant, keys)
    const problem = await verification.run(checkpoint?.size ?? 0).then(
      () => null,
      (error: unknown) => {
        if (!(error instanceof TrailBroken)) throw error
        return { position: error.position, message: error.message }
      },
    )
    return {
      ok: problem === null,
      size: checkpoint?.size ?? 0,
      purged: verification.purged,
      checkpoints: verification.checkpoints,
      checkpoint: checkpoint?.note ?? null,
      problem,
      unsealed: await readUnsealedTail(sql, tenant.ownerId, tenant.mode),
    }
  })
  return found ?? refuse('verifying')
}

const PAGE = 1_000

interface SealedRow extends AuditEventRow, Commitments {
  readonly position: number
  readonly leaf: Buffer
  readonly isListed: boolean | null
}

/** An event without an index entry of its own is listed by an earlier one of its call. */
const ROWS = `
select s.position::float8 as position, s.leaf, s.salts, s.commitments, ${AUDIT_EVENT_COLUMNS},
  (not e.same_request or call.is_request) and (not e.same_agent or call.is_agent) and (not e.same_resource or call.is_resource)
    as "isListed"
from seals_between($1, $2, $3, $4) s left join lateral (
  select * from events one where (one.owner_id, one.mode, one.id) = (s.owner_id, s.mode, s.event_id) limit 1
) e on true
cross join lateral (
  select coalesce(bool_or(one.request_id = e.request_id and not one.same_request), false) as is_request,
    coalesce(bool_or(one.agent_id is not distinct from e.agent_id and not one.same_agent), false) as is_agent,
    coalesce(bool_or(one.resource_id = e.resource_id and not one.same_resource), false) as is_resource
  from events one
  where (e.same_request or e.same_agent or e.same_resource) and (one.owner_id, one.mode) = (s.owner_id, s.mode)
    and one.id >= left(e.id, -2) and one.id < e.id
) call
order by s.position`

interface NoteRow extends Record<string, unknown> {
  readonly size: number
  readonly note: string
}

interface SealedPage {
  readonly rows: readonly SealedRow[]
  readonly notes: readonly NoteRow[]
  readonly end: number
}

const HOLD_PURGES = 'select pg_advisory_xact_lock_shared(hashtextextended($1, 0))'

const NOTES = `
select size::float8 as size, note from audit_checkpoints
where owner_id = $1 and mode = $2 and size > $3 and size <= $4 order by size`

/** Checks everything stored of a tenant's trail from its first entry; throws `TrailBroken` at the first mismatch. */
class Verification {
  checkpoints = 0
  purged = 0
  readonly #sql: Sql
  readonly #tenant: Tenant
  readonly #check: TrailCheck
  readonly #tiles: StoredTreeTiles

  constructor(sql: Sql, tenant: Tenant, keys: PublicKeySet) {
    this.#sql = sql
    this.#tenant = tenant
    this.#check = new TrailCheck(originOf(tenant.ownerId, tenant.mode), keys)
    this.#tiles = new StoredTreeTiles(sql, tenant)
  }

  async run(size: number): Promise<void> {
    const { ownerId, mode } = this.#tenant
    // A purge waits until the verification ends.
    await this.#sql(HOLD_PURGES, [`audit purge ${ownerId} ${mode}`])
    this.purged = await purgedTreeSize(this.#sql, this.#tenant)
    if (!(await isPurgeRecorded(this.#sql, this.#tenant)))
      throw new TrailBroken(
        0,
        `The first ${this.purged} entries are missing, and no entry records their purge.`,
      )
    await this.#readPurged()
    for await (const page of readAhead(pageStarts(this.purged, size, PAGE), begin =>
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

  /** The leaves of purged entries come from the tiles; the checkpoints of later entries prove them. */
  async #readPurged(): Promise<void> {
    for (let first = 0; first < this.purged; first += TILE_SIZE) {
      const hashes = hashesIn(await readPurgedLeaves(this.#sql, this.#tenant, first))
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

  /** The stored hashes locate a change better than a checkpoint does. */
  async #comparePage(page: SealedPage): Promise<void> {
    try {
      await runInSlices(this.#compare(page))
    } catch (error) {
      await this.#tiles.compare()
      throw error
    }
  }

  *#compare({ rows, notes }: SealedPage): SlicedWork<void> {
    const noteAt = new Map(notes.map(({ size, note }) => [size, note]))
    for (const row of rows) {
      const { position, leaf, salts, commitments } = row
      const entry = row.id === null ? null : trailEntryFromEvent(row)
      this.#check.entry({ position, leaf, salts, commitments, entry })
      if (row.isListed === false) throw new TrailBroken(position, `Entry ${position} is hidden from lists.`)
      this.#tiles.append(leaf)
      const note = noteAt.get(position + 1)
      if (note !== undefined) {
        this.#check.checkpoint(note)
        this.checkpoints++
      }
      yield
    }
  }

  /**
   * Checks the tree to which the next entries are appended, and looks for events without a seal and seals
   * without a checkpoint.
   */
  async #compareEnd(size: number): Promise<void> {
    const { ownerId, mode } = this.#tenant
    const [[end], skipped] = await Promise.all([
      this.#sql<EndRow>(END, [ownerId, mode]),
      findSkippedEvent(this.#sql, this.#tenant, this.purged),
    ])
    if (skipped)
      throw new TrailBroken(skipped.position, `The event ${skipped.id} was inserted into the sealed part.`)
    const { grown, signed, seals, peaks } = end ?? { grown: 0, signed: 0, seals: 0, peaks: null }
    const least = Math.min(grown, signed, seals)
    if (Math.max(grown, signed, seals) !== least)
      throw new TrailBroken(least, 'The newest checkpoint does not cover all sealed entries.')
    // Entries sealed since the verification began have their own tree.
    const own = Buffer.concat(this.#check.tree.peaks())
    if (grown === size && !own.equals(peaks ?? Buffer.alloc(0)))
      throw new TrailBroken(size, 'The stored tree does not match the newest checkpoint.')
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
    coalesce((select position + cardinality(event_ids) from audit_seals
      where owner_id = $1 and mode = $2 order by position desc limit 1), 0),
    coalesce((select max(size) from audit_purges where owner_id = $1 and mode = $2), 0))::float8 as seals
from audit_trees t where t.owner_id = $1 and t.mode = $2`

/** An unsealed event before the sealing position; `position` is where it would be. */
interface SkippedEvent {
  readonly id: string
  readonly position: number
}

/** How far the journal was sealed at one instant, and how large that had made the tenant's tree. */
interface Reached extends Record<string, unknown> {
  readonly writtenIn: bigint
  readonly id: string
  readonly open: readonly string[]
  readonly size: number
}

const REACHED = `
select f.written_in as "writtenIn", f.id, f.open::text[] as open,
  coalesce((select size from audit_trees where owner_id = $1 and mode = $2), 0)::float8 as size
from audit_sealing f`

const COUNTED_PAGE = 10_000

const COUNTED = `
select max(e.id) as last, count(*)::int as read,
  (count(*) filter (where (e.written_in, e.id) <= ($4::bigint, $5::text) and e.written_in <> all($6::bigint[])))::int as sealed
from (
  select id, written_in from events where owner_id = $1 and mode = $2 and id > $3 order by id limit ${COUNTED_PAGE}
) e`

interface CountedRow extends Record<string, unknown> {
  readonly last: string | null
  readonly read: number
  readonly sealed: number
}

const SKIPPED = `
select e.id, coalesce(
    (select min(s.position) from seals_between($1, $2, 0, $6) s where s.event_id > e.id), $6)::float8 as position
from (
  select id from events
  where owner_id = $1 and mode = $2 and (written_in, id) <= ($3::bigint, $4::text) and written_in <> all($5::bigint[])
  except select event_id from seals_between($1, $2, 0, $6)
  order by id limit 1
) e`

/**
 * Every seal has been compared with its event. So no event lacks one unless there are more events than seals
 * before the sealing position.
 */
async function findSkippedEvent(
  sql: Sql,
  { ownerId, mode }: Tenant,
  purged: number,
): Promise<SkippedEvent | undefined> {
  const [reached] = await sql<Reached>(REACHED, [ownerId, mode])
  if (!reached) throw new Error('the table audit_sealing is empty')
  const { writtenIn, id, open, size } = reached
  let sealed = 0
  for (let after: string | null = ''; after !== null; ) {
    const values: unknown[] = [ownerId, mode, after, writtenIn, id, open]
    const [page]: readonly CountedRow[] = await sql<CountedRow>(COUNTED, values)
    sealed += page?.sealed ?? 0
    after = page?.read === COUNTED_PAGE ? page.last : null
  }
  if (sealed === size - purged) return undefined
  const [skipped] = await sql<SkippedEvent & Record<string, unknown>>(SKIPPED, [
    ownerId,
    mode,
    writtenIn,
    id,
    open,
    size,
  ])
  return skipped
}
