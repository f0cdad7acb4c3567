import { evidenceApi } from '../../../../commerce/evidence/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { section } from '../../parts/section.ts'
import { box } from '../../parts/table.ts'
import { size, text, words } from '../../parts/text.ts'

export const evidence = section({
  kind: 'Evidence',
  title: 'Evidence',
  lead: 'Documents that prove payments. They cannot be changed or deleted.',
  list: evidenceApi.list,
  get: evidenceApi.get,
  name: ({ type }) => words(type),
  columns: [{ Description: ({ note, fileName }) => text(note ?? fileName, 80) }, 'intentId', 'receivedAt'],
  labels: { note: 'Description', fileName: 'File', bytes: 'Size' },
  shows: { bytes: ({ bytes }) => size(bytes) },
  hidden: ['type', 'text', 'createdAt'],
  empty: 'No evidence yet. You or your agents add it.',
  call: 'agentpay evidence create --help',
  note: ({ id }, { to }) =>
    html`<div class="actions"><a class="button" href="${to(`evidence/${id}/file`)}" download>Download</a></div>`,
  below: piece => piece.text !== null && box('Text', html`<p>${text(piece.text, 20_000)}</p>`),
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
        labels: { note: 'Description', text: 'Text' },
        submit: 'Add evidence',
        done: 'reload',
      },
    },
    request,
  )
