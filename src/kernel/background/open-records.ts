import type { Mode } from '../contract/actor.ts'
import type { OpenRecords } from '../contract/open-records.ts'
import { type Process, type StartInput, workflowIdOf } from '../contract/process.ts'
import { type Database, sqlOn } from '../database/prepared-sql.ts'
import { runSummary } from '../journal/run-summary.ts'

/** The runs as Temporal knows them. */
export interface Runs {
  /** Which of these are open, as far as the list of all runs has heard of it. */
  readonly open: (workflowIds: readonly string[]) => Promise<ReadonlySet<string>>
  /** Begins one, unless one is open or has come to its own end. */
  readonly begin: (process: Process, workflowId: string, input: StartInput) => Promise<void>
}

interface Parts {
  readonly database: Database
  readonly records: readonly OpenRecords[]
  readonly runs: Runs
  /** So long it rests after each page: others ask for lists, too. */
  readonly rest: () => Promise<unknown>
}

const AT_ONCE = 500
/** How many runs are begun at the same time. */
const SIDE_BY_SIDE = 16

/** The outbox is asked about the records of the page, not joined: a join would read all that is open for each page. */
export const pageOf = (select: string): string => `
select id, owner_id as "ownerId", mode, agent_id as "agentId",
  to_jsonb(open) ->> 'amount_cents' as "amountCents", to_jsonb(open) ->> 'about' as about, exists (select from outbox o
  where (o.owner_id, o.mode, o.workflow_id) = (open.owner_id, open.mode, $2 || '/' || open.id)) as "isOnItsWay"
from (${select}) as open where id > $1 order by id limit ${AT_ONCE}`

interface Found extends Record<string, unknown> {
  readonly id: string
  readonly ownerId: string
  readonly mode: Mode
  readonly agentId: string | null
  readonly amountCents: string | null
  readonly about: string | null
  /** What the outbox has yet to bring to Temporal is not missing there. */
  readonly isOnItsWay: boolean
}

/** Begins anew what was ended from outside: a run that was terminated, deleted or cancelled while its record is open. */
export async function beginMissingRuns({ database, records, runs, rest }: Parts): Promise<void> {
  const sql = sqlOn(database.pool)
  for (const one of records)
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: Found[] = await sql<Found>(pageOf(one.select), [after, one.process.name])
      const awaited = page.filter(({ isOnItsWay }) => !isOnItsWay)
      if (awaited.length > 0) await beginMissing(awaited, one.process, runs)
      after = page.length === AT_ONCE ? page.at(-1)?.id : undefined
      if (after !== undefined) await rest()
    }
}

async function beginMissing(page: readonly Found[], process: Process, runs: Runs): Promise<void> {
  const byWorkflow = new Map(page.map(record => [workflowIdOf(process, record.id), record]))
  const open = await runs.open([...byWorkflow.keys()])
  const missing = [...byWorkflow].filter(([workflowId]) => !open.has(workflowId))
  for (let from = 0; from < missing.length; from += SIDE_BY_SIDE)
    await Promise.all(
      missing
        .slice(from, from + SIDE_BY_SIDE)
        .map(([workflowId, record]) => runs.begin(process, workflowId, startInputOf(process, record))),
    )
}

function startInputOf(
  process: Process,
  { id, ownerId, mode, agentId, amountCents, about }: Found,
): StartInput {
  const amount = amountCents === null ? {} : { amountEuros: BigInt(amountCents) }
  const subject = about === null ? amount : { about }
  return { id, ownerId, mode, agentId, summary: runSummary(process, mode, { id, agentId, ...subject }) }
}
