import { disputesApi } from '../../../../commerce/disputes/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox } from '../../parts/table.ts'
import { renderText, renderTime } from '../../parts/text.ts'

export const disputesSection = consoleSection({
  kind: 'Dispute',
  lead: 'Disputed card payments, and the decisions of the card network.',
  list: disputesApi.list,
  get: disputesApi.get,
  name: ({ merchant }) => merchant,
  columns: ['amountEuros', 'status', 'reason', 'evidenceDueAt', 'createdAt'],
  labels: {
    transactionId: 'Payment',
    evidenceDueAt: 'Evidence due',
    refundedEuros: 'Refunded',
    creditedEuros: 'Credited',
    processorProblem: 'Processor error',
    evidenceIds: 'Evidence',
    resolvedAt: 'Resolved',
  },
  shows: { finding: ({ finding }) => finding !== null && renderText(finding.reasons, 2_000) },
  empty: 'No disputes yet. Open one on the page of a completed card payment.',
  call: 'agentpay disputes create --help',
  actions: [
    {
      operation: disputesApi.submit,
      when: ({ status }) => status === 'open',
      members: [],
      submit: 'Submit to the card network',
      confirm: 'Submit the dispute with its present evidence? You cannot add more afterwards.',
      tone: 'main',
    },
    {
      operation: disputesApi.withdraw,
      when: ({ resolvedAt }) => resolvedAt === null,
      members: [],
      confirm: 'Withdraw the dispute? The provisional credit is reversed.',
      tone: 'against',
    },
  ],
  hasTimeline: true,
  boxes: async ({ id }, { ask, to }) => {
    const { data } = await ask(disputesApi.timeline, { params: { id }, query: { limit: 100 } })
    return renderBox(
      'Timeline',
      html`<ol class="steps">${data.map(({ event, at }) => html`<li><strong>${event}</strong> ${renderTime(at)}</li>`)}</ol>
<p><a class="button" href="${to(`disputes/${id}/bundle`)}" download>Download all evidence as PDF</a></p>`,
    )
  },
})

/** In these states the network has not decided, so the payment may be disputed again. */
const OVER = ['withdrawn', 'lapsed']

export async function renderDisputesOfTransaction(
  id: string,
  mayBegin: boolean,
  request: PageRequest,
): Promise<Html> {
  if (!request.may(disputesApi.list)) return html``
  const query = { transactionId: id }
  const { data } = await request.ask(disputesApi.list, { query: { ...query, limit: 10 } })
  const isFree = mayBegin && data.every(({ status }) => OVER.includes(status))
  const create = {
    operation: disputesApi.create,
    given: query,
    members: ['reason', 'amountEuros', 'description'],
    labels: { amountEuros: 'Amount in euros (default: all that is left)', description: 'What happened' },
    submit: 'Dispute payment',
    tone: 'against',
  } as const
  return disputesSection.related(
    { title: 'Disputes', query, ...(isFree && { create, empty: 'None.' }) },
    request,
  )
}
