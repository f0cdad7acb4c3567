import { receiptsApi } from '../../../../commerce/receipts/index.ts'
import { formatBytes } from '../../../../values/bytes.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { OperationAnswer, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { readPaymentsInRows } from '../../parts/names.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox, renderTable } from '../../parts/table.ts'
import { formatFileSize, humanize } from '../../parts/text.ts'

type Receipt = OperationAnswer<typeof receiptsApi.get>

async function suggestionsOf({ suggestions }: Receipt, request: PageRequest): Promise<Html | false> {
  if (suggestions.length === 0) return false
  await readPaymentsInRows(suggestions, request)
  return renderBox(
    'Possible payments',
    renderTable(request, 'Possible payments', suggestions, {
      Payment: ({ transactionId }) => renderRecordLink(request, transactionId),
      'Score (of 100)': { figure: 'score' },
      'Matched by': ({ reasons: why }) => why.map(humanize).join(', '),
      Action: ({ transactionId }) => matchForm(request, transactionId),
    }),
  )
}

const matchForm = (request: PageRequest, transactionId: string): Html =>
  renderOperationForm(request, receiptsApi.update, {
    params: { id: request.id },
    given: { transactionId },
    variant: transactionId,
    submit: 'Match',
    success: 'Matched.',
  })

const upload = { members: ['file'], labels: { file: 'PDF or picture' }, submit: 'Add receipt' } as const

export const receiptsSection = consoleSection({
  kind: 'Receipt',
  lead: 'Receipts from merchants, matched to payments.',
  list: receiptsApi.list,
  get: receiptsApi.get,
  name: ({ fileName, mediaType }) => fileName ?? mediaType,
  columns: ['status', 'transactionId', 'createdAt'],
  reads: readPaymentsInRows,
  labels: {
    transactionId: 'Payment',
    reasons: 'Matched by',
    facts: 'Extracted data',
    bytes: 'Size',
    notes: 'Active content (never executed)',
  },
  shows: { bytes: ({ bytes }) => formatFileSize(bytes) },
  hidden: ['fileName', 'score', 'suggestions', 'isPlain', 'createdAt'],
  empty: 'No receipts yet. You or your agents add them.',
  create: { operation: receiptsApi.create, ...upload },
  call: 'agentpay receipts create --help',
  async above({ to, ask }) {
    const { usedBytes, freeBytes, quotaBytes } = await ask(receiptsApi.storage, {})
    const [used, free, quota] = [usedBytes, freeBytes, quotaBytes].map(bytes => formatBytes(BigInt(bytes)))
    return html`<a class="button" href="${to('console/inbox?kind=receipts')}">Missing receipts</a> <a class="button" href="${to('console/evidence')}">Evidence</a>
<p>Storage: ${used} of ${quota} used, ${free} free.</p>`
  },
  actions: [
    {
      operation: receiptsApi.update,
      members: ['transactionId'],
      labels: { transactionId: 'Payment (empty: none)' },
      submit: 'Set payment',
    },
    {
      operation: receiptsApi.delete,
      forRecord: ({ fileName }) => ({
        confirm: `Delete ${fileName ?? 'this receipt'}? Its file is erased within the hour.`,
      }),
      done: 'go:console/receipts',
    },
  ],
  note: ({ id }, { to }) =>
    html`<p><a class="button" href="${to(`receipts/${id}/file`)}" download>Download</a></p>
<p><img class="paper" src="${to(`receipts/${id}/thumbnail?size=1200`)}" alt="Preview of the receipt" loading="lazy"></p>`,
  below: suggestionsOf,
})

export const renderReceiptsOfTransaction = (transactionId: string, request: PageRequest): Promise<Html> =>
  receiptsSection.related(
    {
      title: 'Receipts',
      query: { transactionId },
      empty: 'None.',
      create: { operation: receiptsApi.create, given: { transactionId }, ...upload, done: 'reload' },
    },
    request,
  )
