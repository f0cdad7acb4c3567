import { z } from 'zod'
import { type Agent, findAgent } from '../../control/agents/index.ts'
import { PolicyEvent } from '../../control/policies/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { reactionToAll } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { DONE, doneSchema, type HandlerOf, post } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { days, utcDay } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { forecastBudgetDepletion } from './build-forecast.ts'
import { dayNumberAt, lastDayOfMonth, weekdayOf } from './method/days.ts'
import { type AgentMonthUsage, readAgentMonthUsage } from './remaining-budget.ts'

const day = z.string()

const BudgetAtRisk = z.object({
  agentId: id('agent'),
  month: z.string().meta({ description: 'By UTC.', examples: ['2026-11'] }),
  limitCents: moneySchema,
  spentCents: moneySchema.meta({ description: 'Amount spent this month so far, without held amounts.' }),
  heldCents: moneySchema.meta({ description: 'Amount held for approved intents. Counts as used.' }),
  runsOutOn: day.meta({
    description: 'The p50 of the forecast: used up by then in half of the cases.',
  }),
  p10: day.meta({ description: 'Used up by then in one of ten cases.' }),
  p90: day.nullable().meta({ description: 'Used up by then in nine of ten cases. Null: not this month.' }),
})

export const budgetWatchApi = {
  watchBudget: post('/forecast/agents/{id}/watch-budget', {
    summary: 'Hold the forecast of an agent against its monthly limit',
    callers: [],
    returns: [200, doneSchema],
    emits: {
      'budget.at_risk': declareEvent(
        'An agent is likely to use up its monthly limit before the month ends. It is sent once a month.',
        BudgetAtRisk,
      ),
    },
  }),
}

interface Watch extends Row {
  readonly agentId: string
  readonly dueAt: Date
  readonly toldMonth: string | null
}

/** Moves an existing watch to this instant, so that a running check notices the change. */
const SET = `
insert into budget_watches (owner_id, mode, agent_id, due_at)
select distinct $1, $2, agent_id, $4::timestamptz from unnest($3::text[]) as a (agent_id) order by agent_id
on conflict (owner_id, mode, agent_id) do update set due_at = excluded.due_at`

const setWatches = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  agentIds: readonly string[],
  dueAt: Date,
): Promise<unknown> => sql(SET, [ownerId, mode, agentIds, dueAt])

const FIND = `
select agent_id as "agentId", due_at as "dueAt", told_month as "toldMonth" from budget_watches
where owner_id = $1 and mode = $2 and agent_id = $3`

async function findWatch(sql: Sql, { ownerId, mode }: Tenant, agentId: string): Promise<Watch | undefined> {
  const [watch] = await sql<Watch>(FIND, [ownerId, mode, agentId])
  return watch
}

const UNCHANGED = 'owner_id = $1 and mode = $2 and agent_id = $3 and due_at = $4 returning agent_id'
const END = `delete from budget_watches where ${UNCHANGED}`
const MOVE = `update budget_watches set due_at = $5, told_month = $6 where ${UNCHANGED}`

async function moveWatch(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { agentId, dueAt: wasDueAt }: Watch,
  { dueAt, toldMonth }: { readonly dueAt: Date | null; readonly toldMonth: string | null },
): Promise<boolean> {
  const key = [ownerId, mode, agentId, wasDueAt]
  const moved = dueAt ? await sql(MOVE, [...key, dueAt, toldMonth]) : await sql(END, key)
  return moved.length > 0
}

/**
 * Checks an agent daily until this many days after its last payment, then each Monday, so that a year without
 * payments stays cheap.
 */
const RESTS_AFTER_DAYS = 4
const MONDAY = 1

const startOf = (day: number): Date => new Date(days(day))

const dayAfter = (now: Date): Date => startOf(dayNumberAt(now) + 1)

const daysSince = (now: Date, lastSpendAt: Date | null): number =>
  lastSpendAt ? dayNumberAt(now) - dayNumberAt(lastSpendAt) : Number.POSITIVE_INFINITY

const hasSpentLately = (now: Date, lastSpendAt: Date | null): boolean => daysSince(now, lastSpendAt) <= 7

/** The next check is at the beginning of a day; once `budget.at_risk` was sent, in the next month. */
function nextCheck(now: Date, lastSpendAt: Date | null, isSent: boolean): Date {
  const today = dayNumberAt(now)
  if (isSent) return startOf(lastDayOfMonth(today) + 1)
  const toMonday = (MONDAY - weekdayOf(today) + 7) % 7 || 7
  return startOf(today + (daysSince(now, lastSpendAt) < RESTS_AFTER_DAYS ? 1 : toMonday))
}

/** Checks an agent with a new policy or limit after this day. The check finds out whether there is a limit. */
export const watchBudgetOnPolicyChange = reactionToAll(PolicyEvent, {}, async (policies, context) => {
  const { sql, tenant, now, queueStatement } = context
  const agentIds = policies.flatMap(({ agentId }) => agentId ?? [])
  if (agentIds.length > 0) queueStatement(setWatches(sql, tenant, agentIds, dayAfter(now)))
})

/**
 * Makes the forecast before any row is locked. Of two concurrent checks, the one that moves the watch emits
 * the event.
 */
export const watchBudget: HandlerOf<typeof budgetWatchApi.watchBudget> = async ({ params }, context) => {
  const { em, sql, tenant, now, emit } = context
  const [agent, watch] = await Promise.all([findAgent(em, params.id), findWatch(sql, tenant, params.id)])
  if (!agent || !watch || watch.dueAt > now) return DONE
  const used = await readAgentMonthUsage(agent, context)
  const month = utcDay(now).slice(0, 7)
  const wasSent = watch.toldMonth === month
  const risk = wasSent ? undefined : await riskOf(agent, used, context)
  const hasLimit = used.limitCents !== null
  const isMine = await moveWatch(sql, tenant, watch, {
    dueAt: hasLimit ? nextCheck(now, used.lastSpendAt, wasSent || risk !== undefined) : null,
    toldMonth: risk ? month : watch.toldMonth,
  })
  if (isMine && risk) emit('budget.at_risk', { agentId: agent.id, month, ...risk })
  return DONE
}

/** Reports a risk if half of the paths use up the limit within the month; none for an agent without recent payments. */
async function riskOf(
  agent: Agent,
  { limitCents, heldCents, spentCents, lastSpendAt }: AgentMonthUsage,
  context: ReadContext,
) {
  if (limitCents === null || agent.status !== 'active' || !hasSpentLately(context.now, lastSpendAt)) return
  const { p10, p50, p90 } = await forecastBudgetDepletion(agent, context)
  if (p10 === null || p50 === null) return
  return { limitCents, heldCents, spentCents, runsOutOn: p50, p10, p90 }
}

export const budgetWatchDeadline: Deadline = {
  process: { name: 'budget-watch' },
  table: 'budget_watches',
  record: 'agent_id',
  agent: 'agent_id',
  due: 'due_at',
  open: 'true',
  waits: 'false',
  operations: ['forecast.watchBudget'],
}
