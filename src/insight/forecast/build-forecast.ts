import type { Agent } from '../../control/agents/index.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { runInSlices } from '../../kernel/contract/time-slices.ts'
import { utcDay } from '../../values/clock.ts'
import { type Cents, roundCents } from '../../values/money.ts'
import { readChargeSeries } from '../analytics/index.ts'
import { addDays } from '../reports/index.ts'
import { spendByDay, withSpendSnapshot } from '../spend/index.ts'
import { estimateDepletionDates } from './depletion-date.ts'
import { buildSpendHistory, FORECAST_HISTORY_DAYS, type SpendHistory } from './history.ts'
import {
  type CentsDueOnDay,
  type KnownSpend,
  readApprovedIntents,
  readIntentsDueByDay,
  readLastOriginals,
  sortBySoonest,
  type UpcomingCharges,
  upcomingCharges,
} from './known-spend.ts'
import { backtestForecast, type ForecastBacktest } from './method/backtest.ts'
import { dateOfDay, lastDayOfMonth } from './method/days.ts'
import { forecastSpend, MAX_FORECAST_DAYS, type SpendForecast } from './method/outlook.ts'
import { type SimulatedPath, totalQuantiles } from './method/paths.ts'
import { type Quantiles, shiftQuantiles } from './method/quantiles.ts'
import { type RemainingBudget, remainingBudgetOfAgent, remainingBudgetOfOwner } from './remaining-budget.ts'

const MOST_SUBSCRIPTIONS = 50
const VIEWS = ['agent', 'merchant'] as const

interface ForecastBasis {
  readonly history: SpendHistory
  readonly approved: readonly KnownSpend[]
  readonly dueOn: CentsDueOnDay
  readonly charges: UpcomingCharges
  readonly remaining: RemainingBudget
  readonly days: number
}

export async function buildForecast(agent: Agent | null, days: number, context: ReadContext) {
  const known = await readBasis(agent, days, context)
  const { history, approved, charges } = known
  const outlook = forecastSpend(history.spend, days)
  const backtest = await runInSlices(backtestForecast(history.spend))
  return {
    agentId: agent?.id ?? null,
    ...amountsOf(outlook, known),
    basis: {
      method: outlook.method,
      days: history.spend.cents.length,
      frozen: agent?.status === 'frozen',
      notes: notesOn(outlook, agent),
      known: sortBySoonest([...approved, ...charges.known]),
    },
    backtest: backtest ? backtestInCents(backtest) : null,
  }
}

async function readBasis(agent: Agent | null, days: number, context: ReadContext): Promise<ForecastBasis> {
  const { sql, now } = context
  const today = utcDay(now)
  const span = { from: addDays(today, -FORECAST_HISTORY_DAYS), before: addDays(today, 1), agentId: agent?.id }
  const [[spent, found], approved, dueOn, remaining] = await Promise.all([
    withSpendSnapshot(context, { views: VIEWS, agentId: agent?.id }, spend =>
      Promise.all([spendByDay(spend, span), readChargeSeries(spend, span)]),
    ),
    readApprovedIntents(sql, context, agent?.id),
    readIntentsDueByDay(sql, context, agent?.id),
    agent ? remainingBudgetOfAgent(agent, context) : remainingBudgetOfOwner(context),
  ])
  const runs = found.slice(0, MOST_SUBSCRIPTIONS)
  const history = buildSpendHistory(spent, today, runs)
  const originals = await readLastOriginals(sql, context, runs)
  const charges = upcomingCharges(history.spend, runs, { most: MAX_FORECAST_DAYS, days, originals })
  return { history, approved, dueOn, charges, remaining, days }
}

const inCents = ({ p10, p50, p90 }: Quantiles) => ({
  p10: roundCents(p10),
  p50: roundCents(p50),
  p90: roundCents(p90),
})

const atLeast = (cents: number, { p10, p50, p90 }: Quantiles): Quantiles => ({
  p10: Math.max(cents, p10),
  p50: Math.max(cents, p50),
  p90: Math.max(cents, p90),
})

function amountsOf(outlook: SpendForecast, { history, charges, dueOn, remaining, days }: ForecastBasis) {
  const { spend, todayCents } = history
  const today = spend.firstDay + spend.cents.length
  const isForecast = outlook.method !== 'none'
  const known = withKnownSpend(history, charges, dueOn)
  // The remaining budget already excludes holds of approved intents.
  const besideHeld = withKnownSpend(history, charges, () => 0).paths(outlook.paths)
  /** The remaining budget also excludes today's spending. */
  const depletion = (leftCents: Cents | null, within: number) =>
    leftCents === null
      ? { p10: null, p50: null, p90: null }
      : estimateDepletionDates(besideHeld, Number(leftCents) + todayCents, today, within)
  return {
    data: outlook.days.map(({ date, ...day }, n) => ({ date, ...inCents(known.day(day, n)) })),
    total: isForecast ? inCents(totalQuantiles(known.paths(outlook.paths), days)) : null,
    runsOut: {
      budget: depletion(remaining.budgetCents, daysLeftInMonth(today)),
      wallet: depletion(remaining.walletCents, MAX_FORECAST_DAYS),
    },
  }
}

/** Today costs at least what was spent so far, and each day at least the payments due on it. */
function withKnownSpend(
  { spend, todayCents }: SpendHistory,
  { todayCents: charged, cents }: UpcomingCharges,
  dueOn: CentsDueOnDay,
) {
  const today = spend.firstDay + spend.cents.length
  const soFar = Math.max(0, todayCents - charged)
  const knownOn = (n: number): number => (cents[n] ?? 0) + (n === 0 ? charged : 0)
  const leastOn = (n: number): number => dueOn(today + n) + (n === 0 ? soFar : 0)
  return {
    day: (day: Quantiles, n: number): Quantiles => shiftQuantiles(knownOn(n), atLeast(leastOn(n), day)),
    paths: (paths: readonly SimulatedPath[]): SimulatedPath[] =>
      paths.map(path => path.map((spent, n) => knownOn(n) + Math.max(spent, leastOn(n)))),
  }
}

const rounded = (part: number): number => Math.round(part * 10_000) / 10_000

const backtestInCents = (of: ForecastBacktest) => ({
  days: of.days,
  coverage: rounded(of.coverage),
  above: rounded(of.above),
  below: rounded(of.below),
  lossCents: roundCents(of.loss),
  poolLossCents: roundCents(of.loss),
  naiveLossCents: roundCents(of.naiveLoss),
  rivalLossCents: roundCents(of.sameWeekdaysLoss),
  lastDays: of.lastDays.map(({ day, forecast, actual }) => ({
    date: dateOfDay(day),
    ...inCents(forecast),
    spentCents: roundCents(actual),
  })),
})

function notesOn({ method }: SpendForecast, agent: Agent | null): string[] {
  return [
    method === 'none' &&
      'Less than seven days of payments, so there is no forecast yet. Try again after a week.',
    method === 'little' &&
      'Less than 28 days of payments: the interval of each day spans all amounts so far, which is wide.',
    agent?.status === 'frozen' && 'The agent is frozen. The forecast assumes that it is not.',
    (agent?.status === 'deleting' || agent?.status === 'deleted') &&
      'The agent is deleted. The forecast assumes that it is not.',
  ].filter(note => note !== false)
}

const daysLeftInMonth = (day: number): number => lastDayOfMonth(day) - day + 1
