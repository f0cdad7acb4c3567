import { deletionApi, exportApi } from '../../../../compliance/gdpr/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { section } from '../../parts/section.ts'
import { box, table } from '../../parts/table.ts'
import { dayInWords, label, text, words } from '../../parts/text.ts'

type Deletion = AnswerOf<typeof deletionApi.getDeletion>

interface About {
  readonly subject: { readonly type: string; readonly id: string }
}

const subjectLink = ({ subject: { type, id } }: About, request: PageRequest): Html =>
  type === 'owner' ? html`the account` : html`${words(type)} ${recordLink(request, id)}`

const nameOf = ({ subject: { type } }: About): string => (type === 'owner' ? 'The account' : label(type))

const otherSubject = {
  members: ['subject.type', 'subject.id'],
  labels: {
    'subject.type': 'Type',
    'subject.id': 'ID of the person, the beneficiary, or the payment of a payer',
  },
  variant: 'person',
  fold: true,
} as const

const erasureForm = {
  tone: 'against',
  done: 'go:console/deletions/{id}',
} as const

const labels = { subject: 'Subject', createdAt: 'Requested', answerBy: 'Due' }

export const deletions = section({
  kind: 'Deletion',
  title: 'Data protection',
  lead: 'Erasure requests. You can withdraw one within seven days. Records that the law requires stay, and are listed with their retention period.',
  list: deletionApi.listDeletions,
  get: deletionApi.getDeletion,
  command: 'gdpr get-deletion',
  name: nameOf,
  columns: ['status', 'beginsAt', 'answerBy', 'createdAt'],
  labels: { ...labels, records: 'Erased records' },
  shows: { subject: subjectLink },
  hidden: ['waitsFor', 'kept'],
  events: ['gdpr.*'],
  empty: 'No deletion requests yet.',
  call: 'agentpay gdpr create-deletion',
  above: request =>
    html`${operationForm(request, deletionApi.createDeletion, { ...otherSubject, ...erasureForm, submit: 'Erase a person’s data' })}
${operationForm(request, deletionApi.createDeletion, { ...erasureForm, submit: 'Erase this account', confirm: 'Erase this account? After seven days, names, addresses and texts are removed from all records, and sign-in is disabled.', fold: true })}
<a class="button" href="${request.to('console/exports')}">Data exports</a>
<a class="button" href="${request.to('console/consent')}">Consent</a>`,
  actions: [
    {
      operation: deletionApi.cancelDeletion,
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
  box(
    'Waiting for',
    html`<ul class="lines">${obstacles.map(({ type, id, howItEnds }) => html`<li>${words(type)} ${recordLink(request, id)}<span>${howItEnds}</span></li>`)}</ul>`,
  )

const kept = (deletion: Deletion, request: PageRequest): Html | false =>
  deletion.kept.length > 0 &&
  box(
    'Retained by law',
    table(request, 'Retained by law', deletion.kept, {
      'Legal basis': 'law',
      Records: { figure: 'records' },
      Areas: ({ areas }) => text(areas.join(', ')),
      'Erased on': ({ until }) => dayInWords(until.slice(0, 10)),
    }),
  )

interface Archive {
  readonly id: string
  readonly status: string
}

const download = ({ id, status }: Archive, { may, to }: PageRequest): Html | false =>
  status === 'ready' &&
  may(exportApi.archive) &&
  html`<a class="button" href="${to(`gdpr/exports/${id}/archive`)}" download>Download</a>`

export const dataExports = section({
  kind: 'Export',
  title: 'Data exports',
  lead: 'Archives of all data about the account, or about one person. Downloads are available for seven days.',
  list: exportApi.listExports,
  get: exportApi.getExport,
  command: 'gdpr get-export',
  name: nameOf,
  columns: ['status', 'records', 'expiresAt', 'answerBy', 'createdAt', { Archive: download }],
  labels,
  shows: { subject: subjectLink },
  events: ['gdpr.*'],
  call: 'agentpay gdpr create-export',
  above: request =>
    html`${operationForm(request, exportApi.createExport, { submit: 'Export this account' })}
${operationForm(request, exportApi.createExport, { ...otherSubject, submit: 'Export a person’s data' })}`,
  note: download,
})
