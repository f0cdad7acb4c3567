import { receiptsApi } from '../../../../commerce/receipts/index.ts'
import { bytesInWords } from '../../../../values/bytes.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { section } from '../../parts/section.ts'
import { box, table } from '../../parts/table.ts'
import { size, words } from '../../parts/text.ts'

type Receipt = AnswerOf<typeof receiptsApi.get>

const suggestionsOf = ({ suggestions }: Receipt, request: PageRequest): Html | false =>
  suggestions.length > 0 &&
  box(
    'Possible payments',
    table(request, 'Possible payments', suggestions, {
      Payment: ({ transactionId }) => recordLink(request, transactionId),
      'Score (of 100)': { figure: 'score' },
      'Matched by': ({ reasons: why }) => why.map(words).join(', '),
      Action: ({ transactionId }) => matchForm(request, transactionId),
    }),
  )

const matchForm = (request: PageRequest, transactionId: string): Html =>
  operationForm(request, receiptsApi.update, {
    params: { id: request.id },
    given: { transactionId },
    variant: transactionId,
    submit: 'Match',
    success: 'Matched.',
  })

export const receipts = section({
  kind: 'Receipt',
  lead: 'Receipts from merchants, matched to payments.',
  list: receiptsApi.list,
  get: receiptsApi.get,
  name: ({ fileName, mediaType }) => fileName ?? mediaType,
  columns: ['status', 'transactionId', 'createdAt'],
  labels: {
    transactionId: 'Payment',
    reasons: 'Matched by',
    facts: 'Extracted data',
    bytes: 'Size',
    notes: 'Active content (never executed)',
  },
  shows: { bytes: ({ bytes }) => size(bytes) },
  hidden: ['fileName', 'score', 'suggestions', 'isPlain', 'createdAt'],
  empty: 'No receipts yet. You or your agents add them.',
  call: 'agentpay receipts create --help',
  async above({ to, ask }) {
    const { usedBytes, freeBytes, quotaBytes } = await ask(receiptsApi.storage, {})
    const [used, free, quota] = [usedBytes, freeBytes, quotaBytes].map(bytes => bytesInWords(BigInt(bytes)))
    return html`<p>Storage: ${used} of ${quota} used, ${free} free.</p>
<a class="button" href="${to('console/evidence')}">Evidence</a>`
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

export const receiptsOf = (transactionId: string, request: PageRequest): Promise<Html> =>
  receipts.related({ title: 'Receipts', query: { transactionId } }, request)
