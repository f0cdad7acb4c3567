import { addDays, type ReportScope } from '../../reports/index.ts'
import { linesOf, parametersOf, readTop, type Spend, type View } from '../../spend/index.ts'
import { RHYTHM_DAYS, RUNS } from '../rhythms/runs-sql.ts'
import { atThisPace, isPaceKnown } from './budgets.ts'
import { type Candidate, mostUnusual } from './candidates.ts'
import { chargedTwice, dearerSubscriptions } from './charges.ts'
import { farDays } from './far-from-usual.ts'
import { newMerchants, OUTSIDE_OF_RUNS } from './newcomers.ts'

/** Merchants that get less than these are not looked at one by one. */
const MOST_MERCHANTS = 200

/** What all of them need. */
export const anomalyViews = ['agent', 'merchant', 'run'] as const

export interface Found extends Candidate {
  /** How many of this kind there are. */
  readonly inAll: number
}

interface Asked {
  readonly spend: Spend
  readonly scope: ReportScope
  readonly limit: number
}

/** `lines` by agent, and by agent and merchant: what each has spent on each day. */
const SERIES = `
of_agents as materialized (
  select agent_id, '' as value, day, sum(payments) as payments, sum(spent_cents) as spent from lines
  where view = 'agent' group by 1, 3
),
of_merchants as materialized (
  select agent_id, value, day, sum(payments) as payments, sum(spent_cents) as spent, sum(refunded_cents) as refunded
  from lines where view = 'merchant' group by 1, 2, 3
),
paid as (select agent_id, value, day, payments, spent::bigint as spent from of_merchants where payments > 0),
${RUNS}`

/** Days, merchants and charges that are far from what is usual. */
export async function unusualSpending({ spend, scope, limit }: Asked): Promise<Found[]> {
  const sums = await readTop(spend, { ...scope, views: ['merchant'] }, MOST_MERCHANTS)
  const values = ['', ...sums.flatMap(({ value }) => value ?? [])]
  const rhythmsFrom = addDays(scope.before, -RHYTHM_DAYS)
  const from = rhythmsFrom < scope.from ? rhythmsFrom : scope.from
  const question = { ...scope, from, values, views: ['agent', 'merchant'] as const }
  const parameters = parametersOf(spend, question)
  const place = parameters.length + 1
  const since = `$${place}::date`
  const kinds = {
    day_above_usual: farDays('day_above_usual', 'of_agents', since),
    merchant_above_usual: farDays('merchant_above_usual', 'of_merchants', since),
    subscription_dearer: dearerSubscriptions(since),
    charged_twice: chargedTwice(since),
    new_merchant: newMerchants(since),
  }
  const text = `with ${linesOf(question)}, ${SERIES} ${mostUnusual(kinds, `$${place + 1}`)}`
  return spend.sql<Found>(text, [...parameters, scope.from, limit])
}

/** What the lines of one view show: in the span, or later. */
function unusualLines(
  asked: Asked,
  view: View,
  from: string,
  kind: string,
  select: string,
): Promise<Found[]> {
  const { spend, scope, limit } = asked
  const question = { ...scope, from, views: [view] }
  const parameters = parametersOf(spend, question)
  const text = `with ${linesOf(question)} ${mostUnusual({ [kind]: select }, `$${parameters.length + 1}`)}`
  return spend.sql<Found>(text, [...parameters, limit])
}

export const outsideOfRuns = (asked: Asked): Promise<Found[]> =>
  unusualLines(asked, 'run', asked.scope.from, 'outside_of_runs', OUTSIDE_OF_RUNS)

export async function budgetsAtThisPace(asked: Asked): Promise<Found[]> {
  const lastDay = addDays(asked.scope.before, -1)
  // Of days to come nothing is known.
  if (lastDay < asked.scope.from || !isPaceKnown(lastDay)) return []
  const paces = atThisPace(asked.scope.agentId !== undefined)
  return unusualLines(asked, 'agent', `${lastDay.slice(0, 7)}-01`, 'budget_at_this_pace', paces)
}
