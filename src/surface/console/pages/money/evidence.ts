import { evidenceApi } from '../../../../commerce/evidence/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { section } from '../../parts/section.ts'
import { box } from '../../parts/table.ts'
import { size, text, words } from '../../parts/text.ts'

export const evidence = section({
  kind: 'Evidence',
  title: 'Evidence',
  lead: 'What agents keep to prove a payment later. It is never changed and never deleted.',
  list: evidenceApi.list,
  get: evidenceApi.get,
  name: ({ type }) => words(type),
  columns: [{ Shows: ({ note, fileName }) => text(note ?? fileName, 80) }, 'intentId', 'receivedAt'],
  labels: { note: 'Shows', fileName: 'File', bytes: 'Size' },
  shows: { bytes: ({ bytes }) => size(bytes) },
  hidden: ['type', 'text', 'createdAt'],
  empty: 'No evidence yet. Agents add it, or you.',
  call: 'agentpay evidence create --help',
  note: ({ id }, { to }) =>
    html`<div class="actions"><a class="button" href="${to(`evidence/${id}/file`)}" download>Download</a></div>`,
  below: piece => piece.text !== null && box('Its text', html`<p>${text(piece.text, 20_000)}</p>`),
})

export const evidenceOf = (intentId: string, request: PageRequest): Promise<Html> =>
  evidence.related(
    {
      title: 'Evidence',
      query: { intentId },
      empty: 'None.',
      create: {
        operation: evidenceApi.create,
        given: { intentId },
        members: ['type', 'note', 'text'],
        labels: { note: 'What it shows', text: 'Its text' },
        submit: 'Add evidence',
        done: 'reload',
      },
    },
    request,
  )
