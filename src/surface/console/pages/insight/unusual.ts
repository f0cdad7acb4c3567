import { anomaliesApi } from '../../../../insight/analytics/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { box } from '../../parts/table.ts'
import { dayInWords, text } from '../../parts/text.ts'

/** How many of them are shown on the first page. */
const SHOWN = 5

/** What was unusual in the last thirty days, in sentences, with whom it was about. */
export async function unusual(request: PageRequest): Promise<Html> {
  const { data, others } = await request.ask(anomaliesApi.anomalies, { query: { limit: SHOWN } })
  if (data.length === 0)
    return box(
      'Unusual',
      html`<p>Nothing unusual in the last thirty days, as far as days before tell what is usual.</p>`,
    )
  const lines = data.map(
    ({ sentence, kind, agentId, name, day }) =>
      html`<li>${text(sentence, 300)}<span>${agentId === null ? (kind === 'budget_at_this_pace' ? 'All agents' : 'Yourselves') : recordLink(request, agentId, text(name, 60))}, ${dayInWords(day)}</span></li>`,
  )
  return box(
    'Unusual in the last thirty days',
    html`<ul class="lines">${lines}</ul>`,
    html`<p>${others > 0 && `${others} more: `}<a href="${request.to(anomaliesApi.anomaliesTable.path.slice(1))}" download>all as CSV</a></p>`,
  )
}
