import type { Agent } from '../../control/agents/index.ts'
import type { Euros } from '../../values/money.ts'
import { type Charges, type DueOn, inOrder, type Known } from './known.ts'
import type { Backtest } from './method/backtest.ts'
import { type Course, totalsOf } from './method/courses.ts'
import { dateOfDay, lastDayOfMonth } from './method/days.ts'
import { LEVELS, type Quantiles, quantileNames, quantilesOf, raisedBy } from './method/quantiles.ts'
import { MOST_DAYS, type Outlook, outlookOf } from './outlook.ts'
import type { Past } from './past.ts'
import type { WhatIsLeft } from './what-is-left.ts'

interface Asked {
  readonly agent: Agent | null
  readonly days: number
  readonly approved: readonly Known[]
  /** What approved intents that expire on a day come to: they are paid by then, if ever. */
  readonly dueOn: DueOn
  readonly charges: Charges
  readonly left: WhatIsLeft
  readonly seed: string
}

const euros = (cents: number): Euros => BigInt(Math.round(cents))

const inEuros = ({ p10, p50, p90 }: Quantiles) => ({ p10: euros(p10), p50: euros(p50), p90: euros(p90) })

const atLeast = (cents: number, quantiles: Quantiles): Quantiles =>
  Object.fromEntries(
    quantileNames.map(name => [name, Math.max(cents, quantiles[name])]),
  ) as unknown as Quantiles

/** What is guessed with what is known: today costs at least what it has cost so far, and each day what is due on it. */
function withKnown({ spend, todayCents }: Past, { todayCents: charged, cents }: Charges, dueOn: DueOn) {
  const today = spend.firstDay + spend.cents.length
  const soFar = Math.max(0, todayCents - charged)
  const knownOn = (n: number): number => (cents[n] ?? 0) + (n === 0 ? charged : 0)
  const leastOn = (n: number): number => dueOn(today + n) + (n === 0 ? soFar : 0)
  return {
    quantiles: (day: Quantiles, n: number): Quantiles => raisedBy(knownOn(n), atLeast(leastOn(n), day)),
    courses: (courses: readonly Course[]): Course[] =>
      courses.map(course => course.map((spent, n) => knownOn(n) + Math.max(spent, leastOn(n)))),
  }
}

export async function shownForecast(
  past: Past,
  { agent, days, approved, dueOn, charges, left, seed }: Asked,
) {
  const { spend, todayCents } = past
  const outlook = await outlookOf(spend, days, seed)
  const known = withKnown(past, charges, dueOn)
  // What is held for approved intents is not in what is left any more.
  const courses = withKnown(past, charges, () => 0).courses(outlook.draw(MOST_DAYS))
  const today = spend.firstDay + spend.cents.length
  const isForetold = outlook.method !== 'none'
  return {
    agentId: agent?.id ?? null,
    data: outlook.days.map(({ date, ...day }, n) => ({ date, ...inEuros(known.quantiles(day, n)) })),
    total: isForetold ? inEuros(quantilesOf(totalsOf(known.courses(outlook.draw(days)), days))) : null,
    runsOut: {
      budget: runsOutOf(left.budgetEuros, daysLeftInMonth(today)),
      wallet: runsOutOf(left.walletEuros, MOST_DAYS),
    },
    basis: {
      method: outlook.method,
      days: spend.cents.length,
      frozen: agent?.status === 'frozen',
      notes: notesOn(outlook, agent),
      known: inOrder([...approved, ...charges.known]),
    },
    backtest: outlook.backtest ? shownBacktest(outlook.backtest) : null,
  }

  /** What was spent today is not in what is left any more. */
  function runsOutOf(leftEuros: Euros | null, within: number) {
    if (leftEuros === null || !isForetold) return { p10: null, p50: null, p90: null }
    return runsOut(courses, Number(leftEuros) + todayCents, today, within)
  }
}

const rounded = (part: number): number => Math.round(part * 10_000) / 10_000

const shownBacktest = (of: Backtest) => ({
  days: of.days,
  coverage: rounded(of.coverage),
  above: rounded(of.above),
  below: rounded(of.below),
  lossEuros: euros(of.loss),
  poolLossEuros: euros(of.poolLoss),
  naiveLossEuros: euros(of.naiveLoss),
  rivalLossEuros: euros(of.rivalLoss),
  lastDays: of.lastDays.map(({ day, forecast, actual }) => ({
    date: dateOfDay(day),
    ...inEuros(forecast),
    spentEuros: euros(actual),
  })),
})

function notesOn({ method }: Outlook, agent: Agent | null): string[] {
  return [
    method === 'none' &&
      'Less than seven days are known from the first payment on, so nothing is foretold yet. Ask again after a week.',
    method === 'little' &&
      'Less than 28 days are known: each day is told from the least to the most that one has cost so far, which is wide.',
    method === 'same_weekdays' &&
      'On this past the last eight same weekdays were the better forecast, so each day is forecast by them.',
    agent?.status === 'frozen' &&
      'The agent is frozen and spends nothing: this is the forecast as if it were not.',
    (agent?.status === 'deleting' || agent?.status === 'deleted') &&
      'The agent is deleted and spends nothing any more: this is the forecast as if it were not.',
  ].filter(note => note !== false)
}

/** The days on which something is used up: in one of ten courses by the first, in half by the second, in nine by the third. */
interface RunsOut {
  readonly p10: string | null
  readonly p50: string | null
  readonly p90: string | null
}

const NEVER = Number.POSITIVE_INFINITY

/** The place of the day on which what is spent reaches the amount. */
function dayOf(course: Course, cents: number, days: number): number {
  let spent = 0
  for (let n = 0; n < Math.min(days, course.length); n++) {
    spent += course[n] as number
    if (spent >= cents) return n
  }
  return NEVER
}

/** When the amount is used up, where the courses begin on the day `first`; only their first `days` count. */
export function runsOut(courses: readonly Course[], cents: number, first: number, days: number): RunsOut {
  const places = courses.map(course => dayOf(course, cents, days)).sort((one, other) => one - other)
  const at = (level: number): string | null => {
    const place = places[Math.max(0, Math.ceil(places.length * level) - 1)] ?? NEVER
    return place === NEVER ? null : dateOfDay(first + place)
  }
  const [p10, p50, p90] = quantileNames.map(name => at(LEVELS[name]))
  return { p10: p10 ?? null, p50: p50 ?? null, p90: p90 ?? null }
}

/** How many days the month has from this one on, this one included. */
const daysLeftInMonth = (day: number): number => lastDayOfMonth(day) - day + 1
