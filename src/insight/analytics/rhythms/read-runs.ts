import type { Row } from '../../../kernel/contract/sql.ts'
import { addDays } from '../../reports/index.ts'
import { linesOf, parametersOf, type Spend } from '../../spend/index.ts'
import type { Every, Run } from './rhythm.ts'
import { RHYTHM_DAYS, RUNS } from './runs-sql.ts'

/** A run as the database tells it; beside a merchant without one, its agent is null. */
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

const textOf = (of: Pick<Wanted, 'agentId' | 'merchants'>): string => `
with ${linesOf({ agentId: of.agentId, values: of.merchants })},
paid as (
  select agent_id, value, day, sum(payments) as payments, sum(spent_cents)::bigint as spent from lines group by 1, 2, 3 having sum(payments) > 0
),
${RUNS}
select ${RUN_MEMBERS} from runs
order by (select sum(one) from unnest(runs.cents) as one) desc, agent_id, value, days limit ${MOST_RUNS}`

interface Wanted {
  readonly agentId?: string | undefined
  /** Only of these merchants. */
  readonly merchants?: readonly string[] | undefined
  /** The first day that is not looked at. */
  readonly before: string
}

/** By what rhythms merchants were charged in the last 400 days, also those that have ended. */
export async function readRuns(spend: Spend, { agentId, merchants, before }: Wanted): Promise<Run[]> {
  const from = addDays(before, -RHYTHM_DAYS)
  const parameters = parametersOf(spend, { views: VIEWS, from, before, agentId, values: merchants })
  return (await spend.sql<RunRow>(textOf({ agentId, merchants }), parameters)).flatMap(runOf)
}
