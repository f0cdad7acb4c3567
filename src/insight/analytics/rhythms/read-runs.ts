import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { addDays } from '../../reports/index.ts'
import { linesOf, parametersOf, withNames } from '../../spend/index.ts'
import type { Every, Run } from './rhythm.ts'
import { RHYTHM_DAYS, RUNS } from './runs-sql.ts'

/** A run as the database tells it; null where there is none. */
export interface RunRow extends Row {
  readonly agentId: string | null
  readonly merchant: string
  readonly every: Every
  readonly days: string[]
  readonly cents: string[]
  readonly brokenOn: string | null
}

/** The columns of `runs` as members of a `RunRow`. */
export const RUN_MEMBERS = `
agent_id as "agentId", value as merchant, every, days::text[] as days, cents::text[] as cents, broken_on::text as "brokenOn"`

export const runOf = ({ agentId, merchant, every, days, cents, brokenOn }: RunRow): Run[] =>
  agentId === null ? [] : [{ agentId, merchant, every, days, cents: cents.map(BigInt), brokenOn }]

const VIEWS = ['merchant'] as const

/** More of them are not looked at: those that cost most are. */
const MOST_RUNS = 200

const textOf = (ofAgent: { agentId?: string | undefined }, place: number): string => `
with ${linesOf({ ...ofAgent, views: VIEWS }, `$${place}`)},
paid as (
  select agent_id, value, day, sum(payments) as payments, sum(spent_cents)::bigint as spent from lines group by 1, 2, 3 having sum(payments) > 0
),
${RUNS},
dearest as (
  select ${RUN_MEMBERS} from runs
  order by (select sum(one) from unnest(runs.cents) as one) desc, agent_id, value, days limit ${MOST_RUNS}
)
select dearest.*, "newNames"
from (select array_agg(distinct value) filter (where is_raw) as "newNames" from lines) as n left join dearest on true`

interface Wanted {
  readonly agentId?: string | undefined
  /** The first day that is not looked at. */
  readonly before: string
}

/** By what rhythms merchants were charged in the last 400 days, also those that have ended. */
export async function readRuns(sql: Sql, tenant: Tenant, { agentId, before }: Wanted): Promise<Run[]> {
  const from = addDays(before, -RHYTHM_DAYS)
  const parameters = parametersOf(tenant, { views: VIEWS, from, before, agentId })
  const text = textOf({ agentId }, parameters.length + 1)
  const { rows } = await withNames(known =>
    sql<RunRow & { newNames: string[] | null }>(text, [...parameters, ...known]),
  )
  return rows.flatMap(runOf)
}
