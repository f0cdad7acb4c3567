import { evidenceApi } from '../../../../commerce/evidence/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, knownFacts, table } from '../../parts/table.ts'
import { size, text, time, words } from '../../parts/text.ts'

const events = ['evidence.*']

type Piece = ItemOf<typeof evidenceApi.list>

const columns: Columns<Piece> = {
  Evidence: ({ id, type }, request) => recordLink(request, id, words(type)),
  Shows: ({ note, fileName }) => text(note ?? fileName, 80),
  Intent: 'intentId',
  Came: 'receivedAt',
}

export const evidencePage = listPage({
  title: 'Evidence',
  lead: 'What agents have kept to prove a payment later. It is never changed and never deleted.',
  operation: evidenceApi.list,
  filters: ['intentId', 'agentId', 'type', 'from', 'to'],
  events,
  empty: { words: 'No evidence yet. Agents bring it, or you.', command: 'agentpay evidence create --help' },
  columns,
})

/** The evidence of an intent, and the form that adds to it. */
export async function evidenceOf(intentId: string, request: PageRequest): Promise<Html> {
  const { ask, may } = request
  if (!may(evidenceApi.list)) return html``
  const { data } = await ask(evidenceApi.list, { query: { intentId, limit: 10 } })
  const form = operationForm(request, evidenceApi.create, {
    given: { intentId },
    members: ['type', 'note', 'text'],
    labels: { note: 'What is to be seen on it', text: 'Its text' },
    submit: 'Add evidence',
    fold: true,
  })
  return box(
    'Evidence',
    data.length > 0 ? table(request, 'Evidence of the intent', data, columns) : html`<p>None.</p>`,
    form,
  )
}

export const pieceOfEvidencePage = recordPage({
  kind: 'Evidence',
  operation: evidenceApi.get,
  events,
  name: ({ type }) => words(type),
  title: ({ type }) => `Evidence: ${words(type)}`,
  body: (
    piece,
    request,
  ) => html`<div class="actions"><a class="button" href="${request.to(`evidence/${piece.id}/file`)}" download>Save it as it came</a></div>
${box(
  'Evidence',
  knownFacts([
    ['Shows', text(piece.note, 1_000)],
    ['Intent', recordLink(request, piece.intentId)],
    ['Agent', recordLink(request, piece.agentId)],
    ['Called', text(piece.fileName)],
    ['Kind', piece.mediaType],
    ['Size', size(piece.bytes)],
    ['SHA-256', html`<code>${piece.sha256}</code>`],
    ['Came', time(piece.receivedAt)],
  ]),
)}
${piece.text !== null && box('Its text', html`<p>${text(piece.text, 20_000)}</p>`)}`,
})
