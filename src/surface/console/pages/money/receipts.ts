import { receiptsApi } from '../../../../commerce/receipts/index.ts'
import { bytesInWords } from '../../../../values/bytes.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, ItemOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, knownFacts, table } from '../../parts/table.ts'
import { none, size, text, time, words } from '../../parts/text.ts'

type Receipt = ItemOf<typeof receiptsApi.list>

const columns: Columns<Receipt> = {
  File: ({ id, fileName, mediaType }, request) => recordLink(request, id, text(fileName ?? mediaType, 80)),
  State: 'status',
  Payment: 'transactionId',
  Came: 'createdAt',
}

export const receiptsPage = listPage({
  title: 'Receipts',
  lead: 'What merchants have given for payments, as it came.',
  operation: receiptsApi.list,
  async above({ to, ask }) {
    const { usedBytes, freeBytes, quotaBytes } = await ask(receiptsApi.storage, {})
    const [used, free, quota] = [usedBytes, freeBytes, quotaBytes].map(bytes => bytesInWords(BigInt(bytes)))
    return html`<p>Your files take ${used} of ${quota}; ${free} are free.</p>
<a class="button" href="${to('console/evidence')}">Evidence</a>`
  },
  filters: ['status', 'matched', 'transactionId', 'intentId', 'agentId', 'from', 'to'],
  events: ['receipt.*'],
  empty: { words: 'No receipt yet. Agents bring them, or you.', command: 'agentpay receipts create --help' },
  columns,
})

/** The receipts of a payment. */
export async function receiptsOf(id: string, request: PageRequest): Promise<Html> {
  const { ask, may } = request
  if (!may(receiptsApi.list)) return html``
  const { data } = await ask(receiptsApi.list, { query: { transactionId: id, limit: 10 } })
  if (data.length === 0) return html``
  return box('Receipts', table(request, 'Receipts of the payment', data, columns))
}

type FullReceipt = AnswerOf<typeof receiptsApi.get>

/** What the text of the receipt says, and the payments that it may be of. */
function readOf({ facts, reasons, suggestions }: FullReceipt, request: PageRequest): Html {
  const { total, currency, date, merchant, vatNumber } = facts ?? {}
  return html`${box(
    'What its text says',
    facts
      ? knownFacts([
          ['Total', total ? text(`${total} ${currency ?? ''}`) : none],
          ['Date', text(date)],
          ['Merchant', text(merchant)],
          ['VAT number', text(vatNumber)],
          ['Fits by', reasons.length > 0 ? reasons.map(words).join(', ') : none],
        ])
      : html`<p>It has no text that can be read here.</p>`,
  )}${
    suggestions.length > 0 &&
    box(
      'Payments that it may be of',
      table(request, 'Payments that it may be of', suggestions, {
        Payment: ({ transactionId }) => recordLink(request, transactionId),
        'Points of 100': { figure: 'score' },
        'Fits by': ({ reasons: why }) => why.map(words).join(', '),
        Action: ({ transactionId }) => matchForm(request, transactionId),
      }),
    )
  }`
}

const matchForm = (request: PageRequest, transactionId: string): Html =>
  operationForm(request, receiptsApi.update, {
    params: { id: request.id },
    given: { transactionId },
    variant: transactionId,
    submit: 'It is of this one',
    success: 'It belongs to the payment.',
  })

function actionsOf({ id, fileName }: FullReceipt, request: PageRequest): Content {
  const params = { id }
  return html`<div class="actions"><a class="button" href="${request.to(`receipts/${id}/file`)}" download>Save it as it came</a>
${operationForm(request, receiptsApi.update, { params, members: ['transactionId'], labels: { transactionId: 'Payment; none if left out' }, submit: 'Say of which payment', fold: true })}
${operationForm(request, receiptsApi.delete, { params, submit: 'Delete', tone: 'against', confirm: `Delete ${fileName ?? 'this receipt'}? Its file is erased within the hour.`, done: 'go:console/receipts' })}</div>`
}

export const receiptPage = recordPage({
  kind: 'Receipt',
  operation: receiptsApi.get,
  events: ['receipt.*'],
  name: ({ fileName, mediaType }) => text(fileName ?? mediaType, 80),
  title: () => 'Receipt',
  body: (receipt, request) => html`${actionsOf(receipt, request)}
<div class="boxes"><p><img class="paper" src="${request.to(`receipts/${receipt.id}/thumbnail?size=1200`)}" alt="How the receipt looks" loading="lazy"></p>
<div>${box(
    'Receipt',
    knownFacts([
      ['Payment', recordLink(request, receipt.transactionId)],
      ['Intent', recordLink(request, receipt.intentId)],
      ['Agent', recordLink(request, receipt.agentId)],
      ['Said by', receipt.matchedBy === null ? none : words(receipt.matchedBy)],
      ['Kind', receipt.mediaType],
      ['Size', size(receipt.bytes)],
      ['Pages', receipt.pages ?? none],
      ['In it, and never run here', receipt.notes.length > 0 ? receipt.notes.join(', ') : none],
      ['SHA-256', html`<code>${receipt.sha256}</code>`],
      ['Came', time(receipt.receivedAt)],
    ]),
  )}${readOf(receipt, request)}</div></div>`,
})
