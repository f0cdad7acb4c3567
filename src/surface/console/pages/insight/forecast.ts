import { costsApi } from '../../../../insight/analytics/index.ts'
import { forecastApi } from '../../../../insight/forecast/index.ts'
import { utcDay } from '../../../../values/clock.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import type { ConsolePage, OperationAnswer, PageRequest } from '../../page.ts'
import { renderChart } from '../../parts/chart.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { renderBox, renderFacts, renderTable, type TableColumns } from '../../parts/table.ts'
import {
  formatDay,
  formatPlainEuros,
  humanize,
  renderAmount,
  renderEuros,
  renderPercent,
  renderText,
} from '../../parts/text.ts'
import { forecastSpan, periodsInSpan, renderReportForm, reportQuery } from './report-query.ts'

type Forecast = OperationAnswer<typeof forecastApi.ofOwner>

export const forecastPage: ConsolePage = async request => {
  const content = await request.part({
    id: 'forecast',
    events: ['transaction.*', 'budget.*', 'policy.*'],
    make: () => forecast(request),
  })
  return {
    title: 'Forecast',
    content: html`<h1>Forecast</h1>
<p class="lead">Expected daily spend, based on the last 6 months. Refunds not included.</p>
${await renderReportForm('forecast', request)}
${content}`,
  }
}

async function forecast(request: PageRequest): Promise<Html> {
  const { agentId, from: _from, to: _to, ...others } = reportQuery('forecast', request)
  const span = forecastSpan(request)
  const query = { days: span.days, ...others }
  const [report, costs] = await Promise.all([
    agentId === undefined
      ? request.ask(forecastApi.ofOwner, { query })
      : request.ask(forecastApi.ofAgent, { params: { id: agentId }, query }),
    request.ask(costsApi.costs, {
      query: {
        from: span.from,
        to: utcDay(request.now),
        limit: 1,
        ...(agentId !== undefined && { agentId }),
      },
    }),
  ])
  const spent = new Map(costs.total.periods.map(({ from, spentEuros }) => [from, spentEuros]))
  const past = periodsInSpan(costs.from, costs.to, 'day').map(date => ({ date, spent: spent.get(date) ?? 0 }))
  const whose =
    agentId === undefined
      ? html`You and all agents`
      : renderRecordLink(request, agentId, renderText(costs.data[0]?.name ?? agentId, 60))
  return html`<div class="boxes">${runsOut(report, agentId !== undefined)}${sum(report, whose)}</div>
${renderBox('Day by day', notes(report), report.data.length > 0 && drawn(report, past, request))}
<div class="boxes">${known(report, request)}${backtest(report)}</div>`
}

const on = (day: string | null): HtmlContent =>
  day === null
    ? html`<span class="none">not expected</span>`
    : html`<time datetime="${day}">${formatDay(day)}</time>`

function runsOut({ runsOut: { budget, wallet } }: Forecast, isOfAgent: boolean): Html {
  const days = ({ p10, p50, p90 }: Forecast['runsOut']['budget']): Html =>
    p10 === null
      ? html`${on(null)}`
      : html`<strong>${on(p50)}</strong><br><small>80 % range: ${on(p10)} to ${p90 === null ? 'later' : on(p90)}</small>`
  return renderBox(
    'Depletion date',
    renderFacts([
      ['Budget this month', days(budget)],
      ...(isOfAgent ? [['Wallet at its present balance', days(wallet)] as const] : []),
    ]),
  )
}

function sum({ total, data, basis }: Forecast, whose: Html): Html {
  const until = data.at(-1)?.date
  return renderBox(
    'Total',
    renderFacts([
      ['Agent', whose],
      ...(total && until !== undefined
        ? [
            [`Until ${formatDay(until)}`, html`<strong>${renderEuros(total.p50)}</strong>`] as const,
            ['Expected range (80 %)', html`${renderEuros(total.p10)} to ${renderEuros(total.p90)}`] as const,
          ]
        : []),
      ['Based on', `${basis.days} full days`],
    ]),
  )
}

const notes = ({ basis }: Forecast): HtmlContent => basis.notes.map(note => html`<p>${note}</p>`)

interface Day {
  readonly date: string
  readonly spent?: number
  readonly forecast?: Forecast['data'][number]
}

const columns: TableColumns<Day> = {
  Day: ({ date }) => html`<time datetime="${date}">${formatDay(date)}</time>`,
  Spent: { figure: ({ spent }) => renderEuros(spent) },
  '10th percentile': { figure: ({ forecast: day }) => renderEuros(day?.p10) },
  Median: { figure: ({ forecast: day }) => renderEuros(day?.p50) },
  '90th percentile': { figure: ({ forecast: day }) => renderEuros(day?.p90) },
}

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
  return renderChart(request, {
    id: 'fan',
    title: 'Spending and forecast',
    description: `Bars show spending on each of ${past.length} days, including today. A band shows the 80 % range of the forecast made the day before, and of the forecast for the next ${data.length} days. The highest value is ${formatPlainEuros(highest.p90)} on ${formatDay(highest.date)}. The table below has the figures.`,
    points: days.map(({ date }) => formatDay(date)),
    series: [
      { name: 'Spent (today so far)', kind: 'bars', values: days.map(({ spent = null }) => spent) },
      { name: 'Expected range (80 %)', kind: 'high', values: days.map(percentile('p90')) },
      { name: '10th percentile', kind: 'low', values: days.map(percentile('p10')) },
      { name: 'Median', kind: 'line', values: days.map(percentile('p50')) },
    ],
    table: renderTable(request, 'Spending and forecast by day', days, columns),
  })
}

const percentile =
  (name: 'p10' | 'p50' | 'p90') =>
  ({ forecast: day }: Day): number | null =>
    day?.[name] ?? null

function known({ basis }: Forecast, request: PageRequest): Html {
  if (basis.known.length === 0)
    return renderBox('Known payments', html`<p>No unpaid approved intents, and no subscriptions.</p>`)
  return renderBox(
    'Known payments',
    html`<ul class="lines">${basis.known.map(({ kind, date, amountEuros, original, merchant, intentId }) => html`<li>${renderAmount(amountEuros, original)} to ${renderText(merchant, 60)}<span>${humanize(kind)}, ${formatDay(date)}${intentId !== null && html`: ${renderRecordLink(request, intentId)}`}</span></li>`)}</ul>`,
  )
}

function backtest({ backtest: past }: Forecast): Html {
  if (!past) return renderBox('Accuracy', html`<p>Available after four weeks of payments.</p>`)
  return renderBox(
    'Accuracy',
    renderFacts([
      ['Days compared', past.days],
      ['Within the range', html`${renderPercent(past.coverage)} (target 80 %)`],
      ['Above the range', html`${renderPercent(past.above)} (target 10 %)`],
      ['Mean error per day (lower is better)', renderEuros(past.lossEuros)],
      ['Error of “same as yesterday”', renderEuros(past.naiveLossEuros)],
      ['Error of “same weekday, last 8 weeks”', renderEuros(past.rivalLossEuros)],
    ]),
  )
}
