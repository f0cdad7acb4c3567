import { costsApi } from '../../../../insight/analytics/index.ts'
import { forecastApi } from '../../../../insight/forecast/index.ts'
import { after, dayOf, days } from '../../../../values/clock.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, Page, PageRequest } from '../../page.ts'
import { type FanDay, fan } from '../../parts/chart.ts'
import { recordLink } from '../../parts/links.ts'
import { box, type Columns, facts, table } from '../../parts/table.ts'
import { dayInWords, euros, none, percent, plainEuros, text, words } from '../../parts/text.ts'
import { periodsIn, reportForm, reportQuery } from './report-query.ts'

type Forecast = AnswerOf<typeof forecastApi.ofOwner>

const PAST_DAYS = 28

export const forecastPage: Page = async request => {
  const content = await request.part({
    id: 'forecast',
    events: ['transaction.*', 'budget.*', 'policy.*'],
    make: () => forecast(request),
  })
  return {
    title: 'Forecast',
    content: html`<h1>Forecast</h1>
<p class="lead">Expected daily spend, based on the last 6 months. Refunds not included.</p>
${await reportForm(forecastApi.ofAgent, ['days'], request)}
${content}`,
  }
}

async function forecast(request: PageRequest): Promise<Html> {
  const { agentId, ...query } = reportQuery(request)
  const first = dayOf(after(request.now, -days(PAST_DAYS)))
  const [report, costs] = await Promise.all([
    agentId === undefined
      ? request.ask(forecastApi.ofOwner, { query })
      : request.ask(forecastApi.ofAgent, { params: { id: agentId }, query }),
    request.ask(costsApi.costs, {
      query: { from: first, limit: 1, ...(agentId !== undefined && { agentId }) },
    }),
  ])
  const spent = new Map(costs.total.periods.map(({ from, spentEuros }) => [from, spentEuros]))
  const past = periodsIn(costs.from, costs.to, 'day').map(date => ({ date, spent: spent.get(date) ?? 0 }))
  const whose =
    agentId === undefined
      ? html`You and all agents`
      : recordLink(request, agentId, text(costs.data[0]?.name ?? agentId, 60))
  return html`<div class="boxes">${runsOut(report, agentId !== undefined)}${sum(report, whose)}</div>
${box('Day by day', notes(report), report.data.length > 0 && drawn(report, past, request))}
<div class="boxes">${known(report, request)}${backtest(report)}</div>`
}

const on = (day: string | null): Content =>
  day === null
    ? html`<span class="none">not expected</span>`
    : html`<time datetime="${day}">${dayInWords(day)}</time>`

function runsOut({ runsOut: { budget, wallet } }: Forecast, isOfAgent: boolean): Html {
  const days = ({ p10, p50, p90 }: Forecast['runsOut']['budget']): Html =>
    p10 === null
      ? html`${on(null)}`
      : html`<strong>${on(p50)}</strong><br><small>80 % interval: ${on(p10)} to ${p90 === null ? 'later' : on(p90)}</small>`
  return box(
    'Depletion date',
    facts([
      ['Budget this month', days(budget)],
      ...(isOfAgent ? [['Wallet at its present balance', days(wallet)] as const] : []),
    ]),
  )
}

function sum({ total, data, basis }: Forecast, whose: Html): Html {
  const until = data.at(-1)?.date
  return box(
    'Total',
    facts([
      ['Agent', whose],
      ...(total && until !== undefined
        ? [
            [`Until ${dayInWords(until)}`, html`<strong>${euros(total.p50)}</strong>`] as const,
            ['80 % interval', html`${euros(total.p10)} to ${euros(total.p90)}`] as const,
          ]
        : []),
      ['Based on', `${basis.days} full days`],
    ]),
  )
}

const notes = ({ basis }: Forecast): Content => basis.notes.map(note => html`<p>${note}</p>`)

interface Day {
  readonly date: string
  readonly spent?: number
  readonly forecast?: Forecast['data'][number]
}

const columns: Columns<Day> = {
  Day: ({ date }) => html`<time datetime="${date}">${dayInWords(date)}</time>`,
  Spent: { figure: ({ spent }) => amount(spent) },
  '10th percentile': { figure: ({ forecast: day }) => amount(day?.p10) },
  Median: { figure: ({ forecast: day }) => amount(day?.p50) },
  '90th percentile': { figure: ({ forecast: day }) => amount(day?.p90) },
}

const amount = (value: number | undefined): Html => (value === undefined ? none : euros(value))

function drawn({ data, backtest }: Forecast, past: readonly Day[], request: PageRequest): Html {
  const forecasts = new Map([...(backtest?.lastDays ?? []), ...data].map(day => [day.date, day]))
  const known = past.map(day => {
    const today = forecasts.get(day.date)
    return today ? { ...day, forecast: today } : day
  })
  const seen = new Set(past.map(({ date }) => date))
  const ahead = data.filter(({ date }) => !seen.has(date)).map(day => ({ date: day.date, forecast: day }))
  const days: readonly Day[] = [...known, ...ahead]
  const highest = data.reduce((one, other) => (other.p90 > one.p90 ? other : one))
  return fan(
    days.map(({ date, ...day }): FanDay => ({ name: dayInWords(date), ...day })),
    {
      id: 'fan',
      title: 'Spending and forecast',
      description: `Bars show spending on each of ${past.length} days, including today. A band shows the 80 % interval of the forecast made the day before, and of the forecast for the next ${data.length} days. The highest value is ${plainEuros(highest.p90)} on ${dayInWords(highest.date)}. The table below has the figures.`,
      legend: [
        ['up', 'Spent (today so far)'],
        ['band', 'Forecast, 80 % interval (past days: made the day before)'],
        ['middle', 'Median'],
      ],
      table: table(request, 'Spending and forecast by day', days, columns),
    },
  )
}

function known({ basis }: Forecast, request: PageRequest): Html {
  if (basis.known.length === 0)
    return box('Known payments', html`<p>No unpaid approved intents, and no subscriptions.</p>`)
  return box(
    'Known payments',
    html`<ul class="lines">${basis.known.map(({ kind, date, amountEuros, merchant, intentId }) => html`<li>${euros(amountEuros)} to ${text(merchant, 60)}<span>${words(kind)}, ${dayInWords(date)}${intentId !== null && html`: ${recordLink(request, intentId)}`}</span></li>`)}</ul>`,
  )
}

function backtest({ backtest: past }: Forecast): Html {
  if (!past) return box('Accuracy', html`<p>Available after four weeks of payments.</p>`)
  return box(
    'Accuracy',
    facts([
      ['Days compared', past.days],
      ['Within the interval', html`${percent(past.coverage)} (target 80 %)`],
      ['Above the interval', html`${percent(past.above)} (target 10 %)`],
      ['Mean error per day (lower is better)', euros(past.lossEuros)],
      ['Error of “same as yesterday”', euros(past.naiveLossEuros)],
      ['Error of “same weekday, last 8 weeks”', euros(past.rivalLossEuros)],
    ]),
  )
}
