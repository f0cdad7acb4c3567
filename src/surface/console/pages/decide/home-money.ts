import { costsApi } from '../../../../insight/analytics/index.ts'
import { billingApi } from '../../../../money/billing/index.ts'
import { walletsApi } from '../../../../money/wallets/index.ts'
import { addMs, days, utcDay } from '../../../../values/clock.ts'
import { type Html, html } from '../../../../web/html.ts'
import { busyAsUndefined } from '../../health.ts'
import type { OperationAnswer, PageRequest } from '../../page.ts'
import { formatDay, formatPlainEuros, sumEuros } from '../../parts/text.ts'
import { periodsInSpan } from '../insight/report-query.ts'

/** Several parts of a page need the same answer. It is read once. */
function readOnce<T>(read: (request: PageRequest) => Promise<T>): (request: PageRequest) => Promise<T> {
  const answers = new WeakMap<PageRequest, Promise<T>>()
  return request => {
    const answer = answers.get(request) ?? read(request)
    answers.set(request, answer)
    return answer
  }
}

export const readBalance = readOnce(({ ask }) => ask(billingApi.balance))

export const readWallets = readOnce(({ ask }) => ask(walletsApi.list, { query: { limit: 100 } }))

const DAYS = 30

interface SpendDay {
  readonly day: string
  readonly euros: number
}

interface MonthAndLine {
  readonly monthEuros: number
  /** The last thirty days, the oldest first. */
  readonly days: readonly SpendDay[]
  readonly isEmpty: boolean
}

/** Undefined while the service is too busy to add up. */
export const readMonthAndLine = readOnce((request: PageRequest) => readSeries(request).catch(busyAsUndefined))

async function readSeries({ ask, now }: PageRequest): Promise<MonthAndLine> {
  const [today, first] = [utcDay(now), utcDay(addMs(now, -days(DAYS - 1)))]
  const month = today.slice(0, 7)
  const from = first < `${month}-01` ? first : `${month}-01`
  const { total } = await ask(costsApi.costs, { query: { from, to: today, limit: 1 } })
  return { ...seriesOf(total.periods, { first, today, month }), isEmpty: total.count === 0 }
}

type Periods = OperationAnswer<typeof costsApi.costs>['total']['periods']

function seriesOf(
  periods: Periods,
  { first, today, month }: { readonly first: string; readonly today: string; readonly month: string },
): Pick<MonthAndLine, 'monthEuros' | 'days'> {
  const net = new Map(periods.map(({ from, netEuros }) => [from, netEuros]))
  return {
    monthEuros: sumEuros([...net].flatMap(([day, euros]) => (day.startsWith(month) ? [euros] : []))),
    days: periodsInSpan(first, today, 'day').map(day => ({ day, euros: net.get(day) ?? 0 })),
  }
}

const WIDTH = 600
const HEIGHT = 80
/** Room for the width of the line at the top and at the bottom. */
const EDGE = 3

/**
 * The days as a line. Its figures are on the page of costs. Drawn without uPlot: a first visit loads at most
 * 100 kB.
 */
export function renderSpendLine(line: readonly SpendDay[]): Html {
  const [oldest, newest] = [line[0]?.day ?? '', line.at(-1)?.day ?? '']
  const highest = line.reduce((one, other) => (other.euros > one.euros ? other : one), {
    day: oldest,
    euros: 0,
  })
  const step = WIDTH / Math.max(1, line.length - 1)
  const heightOf = (euros: number): number =>
    HEIGHT - EDGE - (Math.max(0, euros) / (highest.euros || 1)) * (HEIGHT - 2 * EDGE)
  const points = line.map(({ euros }, n) => `${(n * step).toFixed(1)} ${heightOf(euros).toFixed(1)}`)
  const words =
    highest.euros === 0
      ? 'Nothing was spent.'
      : `The highest day is ${formatDay(highest.day)} with ${formatPlainEuros(highest.euros)}.`
  return html`<figure class="line-chart"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="Spend by day in the last ${DAYS} days. ${words}">
<path class="area" d="M0 ${HEIGHT}L${points.join('L')}L${WIDTH} ${HEIGHT}Z"/><path class="stroke" d="M${points.join('L')}"/></svg>
<figcaption><span>${formatDay(oldest)}</span><span>${highest.euros > 0 && `Highest day ${formatPlainEuros(highest.euros)}`}</span><span>${formatDay(newest)}</span></figcaption></figure>`
}
