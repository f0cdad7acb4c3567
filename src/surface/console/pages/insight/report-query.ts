import { addMs, days, utcDay } from '../../../../values/clock.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { addressWith, datePresets, type Filters, lastDays, withoutFilters } from '../../parts/filters.ts'
import { type FieldChoices, renderField } from '../../parts/form.ts'
import { recordChoices } from '../../parts/names.ts'
import { formatDay } from '../../parts/text.ts'

type PeriodName = 'day' | 'week' | 'month'

const dayAfter = (day: string, count: number): string => utcDay(addMs(new Date(day), days(count)))

/** Both days count. */
const daysIn = ({ from, to }: Span): number => (Date.parse(to) - Date.parse(from)) / days(1) + 1

function beginOf(day: string, name: PeriodName): string {
  if (name === 'month') return `${day.slice(0, 7)}-01`
  return name === 'day' ? day : dayAfter(day, -((new Date(day).getUTCDay() + 6) % 7))
}

export function periodsInSpan(from: string, to: string, name: PeriodName): string[] {
  const begins = Array.from({ length: daysIn({ from, to }) }, (_, n) => beginOf(dayAfter(from, n), name))
  return [...new Set(begins)]
}

/** The span of the same length that ends on the day before. */
export const spanBefore = (span: Span): Span => ({
  from: dayAfter(span.from, -daysIn(span)),
  to: dayAfter(span.from, -1),
})

interface Span {
  readonly from: string
  readonly to: string
}

const reports = {
  costs: ['Spend', ['day', 'week', 'month']],
  merchants: ['Merchants', ['merchant', 'mcc']],
  forecast: ['Forecast', []],
  outcomes: ['Outcomes', ['agent', 'merchant', 'mcc', 'run']],
} as const satisfies Readonly<Record<string, readonly [title: string, groups: readonly string[]]>>

type ReportName = keyof typeof reports

const allGroups = new Set<string>(Object.values(reports).flatMap(([, groups]) => groups))

/** The filters of the page. The grouping of another report, which has come along, has no meaning here. */
export function reportQuery(name: ReportName, { query }: PageRequest): Filters {
  const groups: readonly string[] = reports[name][1]
  const isOfOther = (group: string): boolean => allGroups.has(group) && !groups.includes(group)
  return Object.fromEntries(
    Object.entries(query).filter(
      ([member, value]) => value !== '' && !(member === 'groupBy' && isOfOther(value)),
    ),
  )
}

const groupNames: Readonly<Record<string, string>> = { mcc: 'category' }

const labels = { agentId: 'Agent', from: 'From (UTC)', to: 'To (UTC)', groupBy: 'Group by' }

/** One form for all reports: its choices go along to the others. */
export async function renderReportForm(name: ReportName, request: PageRequest): Promise<Html> {
  const set = reportQuery(name, request)
  const [, groups] = reports[name]
  const choices: Record<string, FieldChoices> = {
    agentId: await recordChoices('agents', request),
    groupBy: groups.map(group => [group, groupNames[group] ?? group] as const),
  }
  const day = { type: 'string', format: 'date' }
  const fields = [
    ['from', day],
    ['to', day],
    ...(groups.length > 0 ? [['groupBy', {}] as const] : []),
    ['agentId', {}],
  ] as const
  const values: Filters = {
    ...(groups[0] !== undefined && { groupBy: groups[0] }),
    ...defaultSpan(request),
    ...set,
    ...(name === 'forecast' && spanOf(forecastSpan(request))),
  }
  return html`<form method="get" class="span" aria-label="Report">
<p class="presets">${presetsFor(name, request).map(
    ({ words, from, to }) =>
      html`<a href="${addressWith({ ...withoutFilters(set, ['from', 'to']), from, to })}"${from === values.from && to === values.to && html` aria-current="true"`}>${words}</a> `,
  )}</p>
${fields.map(([field, schema]) => renderField(`asked-${field}`, field, schema, { values, labels, choices }))}
<button type="submit">Apply</button>
</form>`
}

const spanOf = ({ from, to }: Span): { from: string; to: string } => ({ from, to })

const PAST_DAYS = 30

const defaultSpan = ({ now }: PageRequest): Span => spanOf(lastDays(PAST_DAYS, now))

const FORECAST_PAST_DAYS = 28
const FORECAST_DAYS = 30

/** A forecast begins in the past, and ends in the future: a span of the other reports leaves its end as it is. */
export function forecastSpan({ query, now }: PageRequest): Span & { readonly days: number } {
  const today = utcDay(now)
  const from = query.from && query.from < today ? query.from : utcDay(addMs(now, -days(FORECAST_PAST_DAYS)))
  const to = query.to && query.to > today ? query.to : utcDay(addMs(now, days(FORECAST_DAYS - 1)))
  return { from, to, days: daysIn({ from: today, to }) }
}

function presetsFor(name: ReportName, { now }: PageRequest) {
  if (name !== 'forecast') return [...datePresets(now), lastDays(90, now)]
  const from = utcDay(addMs(now, -days(FORECAST_PAST_DAYS)))
  return [14, 30, 90].map(count => ({
    words: `Next ${count} days`,
    from,
    to: utcDay(addMs(now, days(count - 1))),
  }))
}

export const reportExportLink = (name: ReportName, request: PageRequest): Html =>
  html`<a class="button small aside" href="${request.to(`console/csv/${name}`)}${addressWith(reportQuery(name, request))}" download>Export</a>`

export const formatSpan = ({ from, to }: Span): string =>
  from === to ? formatDay(from) : `${formatDay(from)} to ${formatDay(to)}`
