import { disputesApi } from '../../../../commerce/disputes/index.ts'
import { evidenceApi } from '../../../../commerce/evidence/index.ts'
import { transactionsApi } from '../../../../money/transactions/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ListItemOf, OperationAnswer, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { renderTimelineBox } from '../../parts/history.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox, renderTable, type TableColumns } from '../../parts/table.ts'
import { renderText, renderTime, valueText } from '../../parts/text.ts'
import { renderReceiptsOfTransaction } from './receipts.ts'

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
  hidden: ['description', 'evidenceIds'],
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
  note: ({ status, description, evidenceIds, evidenceDueAt }) =>
    html`<p class="why">${renderText(description, 2_000)}</p>
${status === 'open' && evidenceDueAt !== null && html`<p class="lead">${evidenceIds.length > 0 ? 'Its evidence is submitted' : 'Without evidence it lapses'} ${renderTime(evidenceDueAt)}. Add evidence below, then submit.</p>`}`,
  boxes: async (dispute, request) => {
    const { ask } = request
    const params = { id: dispute.id }
    const [evidence, { data }] = await Promise.all([
      renderEvidenceOfDispute(dispute, request),
      ask(disputesApi.timeline, { params, query: { limit: 100 } }),
    ])
    return html`${evidence}${await renderTimelineBox(data, request)}`
  },
})

type Dispute = OperationAnswer<typeof disputesApi.get>

async function renderEvidenceOfDispute(dispute: Dispute, request: PageRequest): Promise<Html> {
  const { id, status, transactionId, evidenceIds } = dispute
  const { ask, to } = request
  const { intentId } = await ask(transactionsApi.get, { params: { id: transactionId } })
  const [pieces, receipts] = await Promise.all([
    intentId === null ? [] : readEvidence(intentId, request),
    renderReceiptsOfTransaction(transactionId, request),
  ])
  const added = pieces.filter(piece => evidenceIds.includes(piece.id))
  const others = pieces.filter(piece => !evidenceIds.includes(piece.id))
  return html`${renderBox(
    'Evidence',
    added.length === 0
      ? html`<p>No evidence yet.</p>`
      : renderTable(request, 'Evidence', added, evidenceColumns),
    status === 'open' &&
      (intentId === null
        ? html`<p>This payment has no intent. Add its receipt below: the bundle includes it.</p>`
        : evidenceForm(id, intentId, request)),
    status === 'open' &&
      others.length > 0 &&
      html`<h3>Of the same intent</h3>${renderTable(request, 'Evidence of the intent', others, {
        ...evidenceColumns,
        Action: piece => addForm(id, piece.id, request),
      })}`,
    html`<p><a href="${to(`disputes/${id}/bundle`)}" download>Download all evidence as PDF</a></p>`,
  )}${receipts}`
}

const MOST = 100

async function readEvidence(intentId: string, { ask, may }: PageRequest) {
  if (!may(evidenceApi.list)) return []
  return (await ask(evidenceApi.list, { query: { intentId, limit: MOST } })).data
}

const evidenceColumns: TableColumns<ListItemOf<typeof evidenceApi.list>> = {
  Type: ({ id, type }, request) => renderRecordLink(request, id, valueText(type)),
  Description: ({ note, text, fileName }) => renderText(note ?? text ?? fileName, 120),
  Received: 'receivedAt',
}

/** Stores the evidence for the intent, and adds it to the dispute. */
const evidenceForm = (id: string, intentId: string, request: PageRequest): Html =>
  renderOperationForm(request, evidenceApi.create, {
    given: { intentId },
    members: ['file', 'text', 'note', 'type'],
    values: { type: 'other' },
    labels: { file: 'File (PDF or picture)', text: 'Or text', note: 'What it shows', type: 'Type' },
    next: { operation: disputesApi.addEvidence, params: { id }, body: { evidenceIds: ['$id'] } },
    submit: 'Add evidence',
    success: 'Added.',
  })

const addForm = (id: string, evidenceId: string, request: PageRequest): Html =>
  renderOperationForm(request, disputesApi.addEvidence, {
    params: { id },
    given: { evidenceIds: [evidenceId] },
    variant: evidenceId,
    submit: 'Add',
    success: 'Added.',
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
