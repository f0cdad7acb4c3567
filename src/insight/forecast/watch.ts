import { type Agent, findAgent } from '../../control/agents/index.ts'
import { PolicyEvent } from '../../control/policies/index.ts'
import { reactionToAll } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { dayOf } from '../../values/clock.ts'
import { forecastWithin } from './foretell.ts'
import { dayAfter, hasSpentLately, nextLook } from './next-look.ts'
import type { watchApi } from './watch-api.ts'
import { findWatch, moveWatch, setWatches } from './watches.ts'
import { type MonthOfAgent, monthOfAgent } from './what-is-left.ts'

const DONE = { done: true }

/** Whoever has a new policy, or a new limit, is looked at after this day: the look finds out whether there is a limit. */
export const watchFromPolicies = reactionToAll(PolicyEvent, {}, async (policies, context) => {
  const { sql, tenant, now, sendAlong } = context
  const agentIds = policies.flatMap(({ agentId }) => agentId ?? [])
  if (agentIds.length > 0) sendAlong(setWatches(sql, tenant, agentIds, dayAfter(now)))
})

/** Makes the forecast before anything is locked. Of two at once, the one that moves the watch tells the owner. */
export const watchBudget: HandlerOf<typeof watchApi.watchBudget> = async ({ params }, context) => {
  const { records, sql, tenant, now, emit } = context
  const [agent, watch] = await Promise.all([findAgent(records, params.id), findWatch(sql, tenant, params.id)])
  if (!agent || !watch || watch.dueAt > now) return DONE
  const used = await monthOfAgent(agent, context)
  const month = dayOf(now).slice(0, 7)
  const wasTold = watch.toldMonth === month
  const risk = wasTold ? undefined : await riskOf(agent, used, context)
  const hasLimit = used.limitEuros !== null
  const isMine = await moveWatch(sql, tenant, watch, {
    dueAt: hasLimit ? nextLook(now, used.lastSpendAt, wasTold || risk !== undefined) : null,
    toldMonth: risk ? month : watch.toldMonth,
  })
  if (isMine && risk) emit('budget.at_risk', { agentId: agent.id, month, ...risk })
  return DONE
}

/** What the owner is told, if half of the courses use up the limit within the month; nothing of an agent that rests. */
async function riskOf(
  agent: Agent,
  { limitEuros, heldEuros, spentEuros, lastSpendAt }: MonthOfAgent,
  context: Pick<Context, 'sql' | 'records' | 'tenant' | 'now'>,
) {
  if (limitEuros === null || agent.status !== 'active' || !hasSpentLately(context.now, lastSpendAt)) return
  const { runsOut } = await forecastWithin(agent, 1, context)
  const { p10, p50, p90 } = runsOut.budget
  if (p10 === null || p50 === null) return
  return { limitEuros, heldEuros, spentEuros, runsOutOn: p50, p10, p90 }
}

export const watchesDue: Deadline = {
  process: { name: 'budget-watch' },
  table: 'budget_watches',
  record: 'agent_id',
  agent: 'agent_id',
  due: 'due_at',
  open: 'true',
  waits: 'false',
  operations: ['forecast.watchBudget'],
}
