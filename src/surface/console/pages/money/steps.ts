import { ledgerApi } from '../../../../money/ledger/index.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { renderRecordLink, renderReferenceLink } from '../../parts/links.ts'
import { renderBox, renderTable } from '../../parts/table.ts'
import { renderTime, valueText } from '../../parts/text.ts'

const MOST = 20

const kinds: Readonly<Record<string, string>> = { txn: 'payment', cardauth: 'authorization' }

function kindOf(id: string): string {
  const prefix = id.slice(0, id.lastIndexOf('_'))
  return kinds[prefix] ?? prefix
}

export async function renderPostingsFor(
  ids: readonly (string | null)[],
  request: PageRequest,
): Promise<Html> {
  const { ask, may } = request
  if (!may(ledgerApi.transfers)) return html``
  const asked = [...new Set(ids)].filter(id => id !== null)
  const answers = await Promise.all(
    asked.map(referenceId => ask(ledgerApi.transfers, { query: { referenceId, limit: MOST } })),
  )
  const booked = asked.filter((_, n) => (answers[n]?.data.length ?? 0) > 0)
  const postings = answers.flatMap(({ data }) => data).toSorted((one, other) => (one.id < other.id ? -1 : 1))
  if (postings.length === 0) return renderBox('Ledger', html`<p>No postings.</p>`)
  return renderBox(
    'Ledger',
    renderTable(request, 'Postings', postings, {
      Posting: ({ id, kind }) => renderRecordLink(request, id, valueText(kind)),
      For: ({ reference }) => renderReferenceLink(request, reference, valueText(reference.type)),
      Booked: 'bookedAt',
    }),
    html`<p>${booked.map(id => html`<a href="${request.to(`console/postings?referenceId=${id}`)}">All postings for the ${kindOf(id)}</a> `)}</p>`,
  )
}

export interface HistoryStep {
  readonly what: HtmlContent
  readonly at?: string | null
  readonly note?: HtmlContent
}

/** The history of a record, oldest step first. Expected steps come last. */
export const renderHistorySteps = (all: readonly (HistoryStep | false)[]): Html => html`<ol class="steps">
${all.map(
  step =>
    step &&
    html`<li${!step.at && html` class="ahead"`}><strong>${step.what}</strong> ${step.at ? renderTime(step.at) : html`<span class="none">pending</span>`}
${step.note !== undefined && html`<p>${step.note}</p>`}</li>
`,
)}</ol>`
