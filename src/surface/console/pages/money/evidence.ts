import { evidenceApi } from '../../../../commerce/evidence/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox } from '../../parts/table.ts'
import { formatFileSize, renderText, valueText } from '../../parts/text.ts'

export const evidenceSection = consoleSection({
  kind: 'Evidence',
  title: 'Evidence',
  lead: 'Documents that prove payments. They cannot be changed or deleted.',
  list: evidenceApi.list,
  get: evidenceApi.get,
  name: ({ type }) => valueText(type),
  columns: [
    { Description: ({ note, fileName }) => renderText(note ?? fileName, 80) },
    'intentId',
    'receivedAt',
  ],
  labels: { note: 'Description', fileName: 'File', bytes: 'Size' },
  shows: { bytes: ({ bytes }) => formatFileSize(bytes) },
  hidden: ['type', 'text', 'createdAt'],
  empty: 'No evidence yet. You or your agents add it.',
  call: 'agentpay evidence create --help',
  note: ({ id }, { to }) =>
    html`<div class="actions"><a class="button" href="${to(`evidence/${id}/file`)}" download>Download</a></div>`,
  below: piece => piece.text !== null && renderBox('Text', html`<p>${renderText(piece.text, 20_000)}</p>`),
})

export const renderEvidenceOfIntent = (intentId: string, request: PageRequest): Promise<Html> =>
  evidenceSection.related(
    {
      title: 'Evidence',
      query: { intentId },
      empty: 'None.',
      create: {
        operation: evidenceApi.create,
        given: { intentId },
        members: ['type', 'file', 'text', 'note'],
        labels: { file: 'File (PDF or picture)', text: 'Or text', note: 'What it shows' },
        submit: 'Add evidence',
        done: 'reload',
      },
    },
    request,
  )
