import { dataDeletionApi, dataExportApi } from '../../../../compliance/gdpr/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { OperationAnswer, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox, renderTable } from '../../parts/table.ts'
import { formatDay, memberLabelText, renderText, renderTime, valueText } from '../../parts/text.ts'

type Deletion = OperationAnswer<typeof dataDeletionApi.getDeletion>

interface About {
  readonly subject: { readonly type: string; readonly id: string }
}

const subjectLink = ({ subject: { type, id } }: About, request: PageRequest): Html =>
  type === 'owner' ? html`The account` : html`${valueText(type)} ${renderRecordLink(request, id)}`

const nameOf = ({ subject: { type } }: About): string =>
  type === 'owner' ? 'The account' : memberLabelText(type)

const otherSubject = {
  members: ['subject.type', 'subject.id'],
  labels: {
    'subject.type': 'Type',
    'subject.id': 'ID of the person, the beneficiary, or the payment of a payer',
  },
  variant: 'person',
  inDialog: true,
} as const

const erasureForm = {
  tone: 'against',
  done: 'go:console/deletions/{id}',
} as const

const labels = { subject: 'Subject', createdAt: 'Requested', answerBy: 'Due' }

export const deletionsSection = consoleSection({
  kind: 'Deletion',
  title: 'Data protection',
  lead: 'Erasure requests. You can withdraw one within seven days. Records that the law requires stay, and are listed with their retention period.',
  list: dataDeletionApi.listDeletions,
  get: dataDeletionApi.getDeletion,
  command: 'gdpr get-deletion',
  name: nameOf,
  columns: ['status', 'beginsAt', 'answerBy', 'createdAt'],
  labels: { ...labels, records: 'Erased records' },
  shows: { subject: subjectLink },
  hidden: ['waitsFor', 'kept'],
  events: ['gdpr.*'],
  empty: 'No deletion requests yet.',
  call: 'agentpay gdpr create-deletion',
  buttons: request =>
    html`${renderOperationForm(request, dataDeletionApi.createDeletion, { ...otherSubject, ...erasureForm, submit: 'Erase a person’s data' })}
${renderOperationForm(request, dataDeletionApi.createDeletion, { ...erasureForm, submit: 'Erase this account', confirm: 'Erase this account? After seven days, names, addresses and texts are removed from all records, and sign-in is disabled.', inDialog: true })}`,
  menu: ({ to }) => [
    html`<a href="${to('console/exports')}">Data exports</a>`,
    html`<a href="${to('console/consent')}">Consent</a>`,
  ],
  actions: [
    {
      operation: dataDeletionApi.cancelDeletion,
      when: ({ status }) => status === 'requested' || status === 'waiting',
      members: [],
      submit: 'Withdraw request',
      tone: 'main',
    },
  ],
  below: (deletion, request) => html`${waitsFor(deletion, request)}${kept(deletion, request)}`,
})

const waitsFor = ({ waitsFor: obstacles }: Deletion, request: PageRequest): Html | false =>
  obstacles.length > 0 &&
  renderBox(
    'Waiting for',
    html`<ul class="lines">${obstacles.map(({ type, id, howItEnds }) => html`<li>${valueText(type)} ${renderRecordLink(request, id)}<span>${howItEnds}</span></li>`)}</ul>`,
  )

const kept = (deletion: Deletion, request: PageRequest): Html | false =>
  deletion.kept.length > 0 &&
  renderBox(
    'Retained by law',
    renderTable(request, 'Retained by law', deletion.kept, {
      'Legal basis': 'law',
      Records: { figure: 'records' },
      Areas: ({ areas }) => renderText(areas.join(', ')),
      'Erased on': ({ until }) => formatDay(until.slice(0, 10)),
    }),
  )

interface Archive {
  readonly id: string
  readonly status: string
}

const download = ({ id, status }: Archive, { may, to }: PageRequest): Html | false =>
  status === 'ready' &&
  may(dataExportApi.archive) &&
  html`<a class="button" href="${to(`gdpr/exports/${id}/archive`)}" download>Download</a>`

export const dataExportsSection = consoleSection({
  kind: 'Export',
  title: 'Data exports',
  lead: 'Archives of all data about the account, or about one person. Downloads are available for seven days.',
  list: dataExportApi.listExports,
  get: dataExportApi.getExport,
  command: 'gdpr get-export',
  name: nameOf,
  columns: [
    'status',
    'records',
    { Expires: ({ expiresAt }) => renderTime(expiresAt) },
    'answerBy',
    'createdAt',
    { Archive: download },
  ],
  labels,
  shows: { subject: subjectLink },
  events: ['gdpr.*'],
  call: 'agentpay gdpr create-export',
  buttons: request =>
    html`${renderOperationForm(request, dataExportApi.createExport, { submit: 'Export this account' })}
${renderOperationForm(request, dataExportApi.createExport, { ...otherSubject, submit: 'Export a person’s data' })}`,
  note: download,
})
