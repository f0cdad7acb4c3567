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
      'Points of 100': { figure: 'score' },
      'Fits by': ({ reasons: why }) => why.map(words).join(', '),
      Action: ({ transactionId }) => matchForm(request, transactionId),
    }),
  )

const matchForm = (request: PageRequest, transactionId: string): Html =>
  operationForm(request, receiptsApi.update, {
    params: { id: request.id },
    given: { transactionId },
    variant: transactionId,
    submit: 'Match this payment',
    success: 'It belongs to the payment.',
  })

export const receipts = section({
  kind: 'Receipt',
  lead: 'What merchants have given for payments, as it came.',
  list: receiptsApi.list,
  get: receiptsApi.get,
  name: ({ fileName, mediaType }) => fileName ?? mediaType,
  columns: ['status', 'transactionId', 'createdAt'],
  labels: {
    transactionId: 'Payment',
    reasons: 'Fits by',
    facts: 'Read from the text',
    bytes: 'Size',
    notes: 'In it, and never run here',
  },
  shows: { bytes: ({ bytes }) => size(bytes) },
  hidden: ['fileName', 'score', 'suggestions', 'isPlain', 'createdAt'],
  empty: 'No receipts yet. Agents add them, or you.',
  call: 'agentpay receipts create --help',
  async above({ to, ask }) {
    const { usedBytes, freeBytes, quotaBytes } = await ask(receiptsApi.storage, {})
    const [used, free, quota] = [usedBytes, freeBytes, quotaBytes].map(bytes => bytesInWords(BigInt(bytes)))
    return html`<p>Your files take ${used} of ${quota}; ${free} are free.</p>
<a class="button" href="${to('console/evidence')}">Evidence</a>`
  },
  actions: [
    {
      operation: receiptsApi.update,
      members: ['transactionId'],
      labels: { transactionId: 'Payment; none if left out' },
      submit: 'Set the payment',
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
<p><img class="paper" src="${to(`receipts/${id}/thumbnail?size=1200`)}" alt="How the receipt looks" loading="lazy"></p>`,
  below: suggestionsOf,
})

export const receiptsOf = (transactionId: string, request: PageRequest): Promise<Html> =>
  receipts.related({ title: 'Receipts', query: { transactionId } }, request)
