import type { AnyOperation } from '../../../../kernel/contract/operation.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { type FieldChoices, renderField } from '../../parts/form.ts'
import { recordChoices } from '../../parts/names.ts'
import { queryMemberSchemas } from '../../parts/schema.ts'
import { formatDay } from '../../parts/text.ts'

const DAY_MS = 86_400_000

type PeriodName = 'day' | 'week' | 'month'

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

function beginOf(day: string, name: PeriodName): string {
  if (name === 'month') return `${day.slice(0, 7)}-01`
  const at = Date.parse(day)
  return name === 'day' ? day : dayOf(at - ((new Date(at).getUTCDay() + 6) % 7) * DAY_MS)
}

export function periodsInSpan(from: string, to: string, name: PeriodName): string[] {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  const begins = Array.from({ length: days }, (_, n) => beginOf(dayOf(Date.parse(from) + n * DAY_MS), name))
  return [...new Set(begins)]
}

type Query = Readonly<Record<string, string>>

export const filledReportQuery = ({ query }: PageRequest): Query =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''))

const labels = { agentId: 'Agent', from: 'From', to: 'To', groupBy: 'Group by', days: 'Days ahead' }

export async function renderReportForm(
  operation: AnyOperation,
  names: readonly string[],
  request: PageRequest,
  more: Readonly<Record<string, FieldChoices>> = {},
): Promise<Html> {
  const members = queryMemberSchemas(operation)
  const choices = { ...more, agentId: await recordChoices('agents', request) }
  return html`<form method="get" class="span">
${[...names, 'agentId'].map(name => renderField(`asked-${name}`, name, { ...members[name], default: undefined }, { values: request.query, labels, choices }))}
<button type="submit">Show</button>
</form>`
}

export const csvDownloadAddress = ({ path }: AnyOperation, request: PageRequest): string =>
  `${request.to(path.slice(1))}?${new URLSearchParams(filledReportQuery(request))}`

export const formatSpan = ({ from, to }: { readonly from: string; readonly to: string }): string =>
  from === to ? formatDay(from) : `${formatDay(from)} to ${formatDay(to)}`
