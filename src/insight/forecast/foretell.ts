import type { Agent } from '../../control/agents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { dayOf } from '../../values/clock.ts'
import { readRuns } from '../analytics/index.ts'
import { addDays } from '../reports/index.ts'
import { atOneInstant, readTail, type Spend, spendByDay } from '../spend/index.ts'
import { approvedIntents, chargesAhead, dueByIntents } from './known.ts'
import { MOST_DAYS } from './outlook.ts'
import { HISTORY_DAYS, pastOf } from './past.ts'
import { shownForecast } from './response.ts'
import { leftOfAgent, leftOfOwner } from './what-is-left.ts'

type Asking = Pick<Context, 'sql' | 'records' | 'tenant' | 'now'>

/** What is spent, as of one instant. */
type Read = <T>(
  wanted: { views: typeof VIEWS; agentId?: string | undefined },
  read: (spend: Spend) => Promise<T>,
) => Promise<T>

/** More subscriptions are not followed: those that cost most are. */
const MOST_SUBSCRIPTIONS = 50
const VIEWS = ['agent', 'merchant'] as const

/** The forecast of an agent, or of the whole tenant. */
export const forecastOf = (
  agent: Agent | null,
  days: number,
  context: Asking & Pick<Context, 'atOneInstant'>,
) => foretell(agent, days, context, (wanted, read) => atOneInstant(context, wanted, read))

/** The same within a write: on the connection that it has, so what is moved on meanwhile lets it begin again. */
export const forecastWithin = (agent: Agent, days: number, context: Asking) =>
  foretell(agent, days, context, async (wanted, read) =>
    read(await readTail(context.sql, context.tenant, wanted)),
  )

async function foretell(agent: Agent | null, days: number, context: Asking, spendAt: Read) {
  const { sql, tenant, now } = context
  const today = dayOf(now)
  const span = { from: addDays(today, -HISTORY_DAYS), before: addDays(today, 1), agentId: agent?.id }
  const [[spent, found], approved, dueOn, left] = await Promise.all([
    spendAt({ views: VIEWS, agentId: agent?.id }, spend =>
      Promise.all([spendByDay(spend, span), readRuns(spend, span)]),
    ),
    approvedIntents(sql, context, agent?.id),
    dueByIntents(sql, context, agent?.id),
    agent ? leftOfAgent(agent, context) : leftOfOwner(context),
  ])
  const runs = found.slice(0, MOST_SUBSCRIPTIONS)
  const past = pastOf(spent, today, runs)
  const charges = chargesAhead(past.spend, runs, { most: MOST_DAYS, days })
  const seed = [tenant.ownerId, tenant.mode, agent?.id ?? '', today].join(' ')
  return shownForecast(past, { agent, days, approved, dueOn, charges, left, seed })
}
