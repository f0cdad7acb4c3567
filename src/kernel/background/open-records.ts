import { cents, formatDecimal } from '../../values/money.ts'
import type { Mode } from '../contract/actor.ts'
import type { OpenRecordsQuery } from '../contract/deadline.ts'
import { type DurableProcess, type ProcessStartInput, workflowIdOf } from '../contract/process.ts'
import { type Database, sqlOn } from '../database/prepared-sql.ts'
import { workflowRunSummary } from '../journal/outbox.ts'

export interface WorkflowRuns {
  /** Which of these are open. Temporal's list of runs is eventually consistent. */
  readonly open: (workflowIds: readonly string[]) => Promise<ReadonlySet<string>>
  /** Starts a run, unless one is open or has completed. Returns whether it has completed. */
  readonly start: (
    process: DurableProcess,
    workflowId: string,
    input: ProcessStartInput,
  ) => Promise<'completed' | undefined>
  readonly restart: (process: DurableProcess, workflowId: string, input: ProcessStartInput) => Promise<void>
}

interface Parts {
  readonly database: Database
  readonly records: readonly OpenRecordsQuery[]
  readonly runs: WorkflowRuns
  /** The pause after each page: Temporal's list queries are rate-limited. */
  readonly rest: () => Promise<unknown>
}

const PAGE_SIZE = 500
const CONCURRENCY = 16

const oneOf = (select: string): string =>
  openRecordsPageSql(`select * from (${select}) as listed where listed.id = $3`)

/** A subquery per row looks into the outbox: a join would read all open records for each page. */
export const openRecordsPageSql = (select: string): string => `
select id, owner_id as "ownerId", mode, agent_id as "agentId",
  to_jsonb(open) ->> 'amount_cents' as "amountCents", to_jsonb(open) ->> 'about' as about, exists (select from outbox o
  where (o.owner_id, o.mode, o.workflow_id) = (open.owner_id, open.mode, $2 || '/' || open.id)) as "isOnItsWay"
from (${select}) as open where id > $1 order by id limit ${PAGE_SIZE}`

/** The first pages of all in one statement: most records have their run, so this is usually all. */
const firstPagesOf = (records: readonly OpenRecordsQuery[]): string =>
  records
    .map(({ process, select }, place) => {
      const page = openRecordsPageSql(select).replaceAll('$1', `''`).replaceAll('$2', `'${process.name}'`)
      return `select ${place} as place, page.* from (${page}) as page`
    })
    .join(' union all ')

interface OpenRecord extends Record<string, unknown> {
  readonly id: string
  readonly ownerId: string
  readonly mode: Mode
  readonly agentId: string | null
  readonly amountCents: string | null
  readonly about: string | null
  /** The outbox has yet to deliver its start, so its run is not missing. */
  readonly isOnItsWay: boolean
}

export async function startMissingRuns({ database, records, runs, rest }: Parts): Promise<void> {
  const sql = sqlOn(database.pool)
  const firstPages = Map.groupBy(
    await sql<OpenRecord & { place: number }>(firstPagesOf(records)),
    ({ place }) => place,
  )
  for (const [place, { process, select }] of records.entries()) {
    const isOpen = async (id: string) => {
      const [record] = await sql<OpenRecord>(oneOf(select), ['', process.name, id])
      return record?.isOnItsWay === false
    }
    for (let page: readonly OpenRecord[] = firstPages.get(place) ?? []; page.length > 0; ) {
      const candidates = page.filter(({ isOnItsWay }) => !isOnItsWay)
      if (candidates.length > 0) await startMissing(candidates, { process, runs, isOpen })
      if (page.length < PAGE_SIZE) break
      await rest()
      page = await sql<OpenRecord>(openRecordsPageSql(select), [page.at(-1)?.id, process.name])
    }
  }
}

interface Missing {
  readonly process: DurableProcess
  readonly runs: WorkflowRuns
  readonly isOpen: (id: string) => Promise<boolean>
}

async function startMissing(page: readonly OpenRecord[], missingOf: Missing): Promise<void> {
  const { process, runs } = missingOf
  const byWorkflow = new Map(page.map(record => [workflowIdOf(process, record.id), record]))
  const open = await runs.open([...byWorkflow.keys()])
  const missing = [...byWorkflow].filter(([workflowId]) => !open.has(workflowId))
  for (let from = 0; from < missing.length; from += CONCURRENCY)
    await Promise.all(
      missing
        .slice(from, from + CONCURRENCY)
        .map(([workflowId, record]) => startOne(workflowId, record, missingOf)),
    )
}

/**
 * A run completes after its record is closed. If it has completed and the record is open, the database was
 * restored from an earlier backup, and the record needs another run.
 */
async function startOne(
  workflowId: string,
  record: OpenRecord,
  { process, runs, isOpen }: Missing,
): Promise<void> {
  const input = startInputOf(process, record)
  const ended = await runs.start(process, workflowId, input)
  if (ended === 'completed' && (await isOpen(record.id))) await runs.restart(process, workflowId, input)
}

function startInputOf(
  process: DurableProcess,
  { id, ownerId, mode, agentId, amountCents, about }: OpenRecord,
): ProcessStartInput {
  const amount = amountCents === null ? {} : { amountCents: cents(amountCents) }
  const subject = about === null ? amount : { about }
  return {
    ...{ id, ownerId, mode, agentId },
    summary: workflowRunSummary(process, mode, { id, agentId, ...subject }),
    ...(amount.amountCents !== undefined && { amount: Number(formatDecimal(amount.amountCents)) }),
  }
}
