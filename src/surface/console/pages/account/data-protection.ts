import { deletionApi, exportApi } from '../../../../compliance/gdpr/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink, runLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, facts, table } from '../../parts/table.ts'
import { dayInWords, label, none, text, time, words } from '../../parts/text.ts'
import { history } from './shared.ts'

type Deletion = AnswerOf<typeof deletionApi.getDeletion>

interface Subject {
  readonly type: string
  readonly id: string
}

/** Who is meant: the account itself, or somebody else by their record. */
const whom = ({ type, id }: Subject, request: PageRequest): Html =>
  type === 'owner' ? html`the account` : html`${words(type)} ${recordLink(request, id)}`

/** Somebody other than the account, by the kind and id of their record. */
const somebody = {
  members: ['subject.type', 'subject.id'],
  labels: {
    'subject.type': 'Who',
    'subject.id': 'Id of the person, the beneficiary, or of what the payer has paid',
  },
  variant: 'somebody',
  fold: true,
} as const

const forgetting = {
  tone: 'against',
  done: 'go:console/deletions/{id}',
} as const

export const deletionsPage = listPage({
  title: 'Data protection',
  lead: 'Who is to be forgotten. For seven days it can be taken back; what the law keeps stays, and is listed with its term.',
  operation: deletionApi.listDeletions,
  filters: ['status'],
  events: ['gdpr.*'],
  names: ['people', 'beneficiaries'],
  empty: { words: 'Nobody has asked to be forgotten.', command: 'agentpay gdpr create-deletion' },
  above: request =>
    html`${operationForm(request, deletionApi.createDeletion, { ...somebody, ...forgetting, submit: 'Forget somebody' })}
${operationForm(request, deletionApi.createDeletion, { ...forgetting, submit: 'Forget this account', confirm: 'Forget this account? After seven days names, addresses and words are removed from all records, and nobody signs in any more.', fold: true })}
<a class="button" href="${request.to('console/exports')}">What is held about somebody</a>
<a class="button" href="${request.to('console/consent')}">Consent</a>`,
  columns: {
    Who: ({ id, subject }, request) => recordLink(request, id, nameOf(subject)),
    State: 'status',
    Begins: 'beginsAt',
    'Answer by': ({ answerBy }) => time(answerBy),
    Asked: 'createdAt',
  },
})

const nameOf = ({ type }: Subject): string => (type === 'owner' ? 'The account' : label(type))

export const deletionPage = recordPage({
  kind: 'Deletion',
  operation: deletionApi.getDeletion,
  command: 'gdpr get-deletion',
  events: ['gdpr.*'],
  name: ({ subject }) => nameOf(subject),
  title: ({ subject }) => `Deletion of ${nameOf(subject)}`,
  body: async (
    deletion,
    request,
  ) => html`${isOpen(deletion) && html`<div class="actions">${operationForm(request, deletionApi.cancelDeletion, { params: { id: deletion.id }, submit: 'Take it back', tone: 'main' })}</div>`}
${waitsFor(deletion, request)}
${box(
  'Deletion',
  facts([
    ['Who', whom(deletion.subject, request)],
    ['Asked', time(deletion.createdAt)],
    ['Nothing is done before', time(deletion.beginsAt)],
    ['The law wants an answer by', time(deletion.answerBy)],
    ['Records in which something was forgotten', deletion.records],
    ['Completed', time(deletion.completedAt)],
    ['Taken back', time(deletion.cancelledAt)],
    ['Process', runLink(request, deletion.workflowId)],
  ]),
)}
${kept(deletion, request)}
${await history(deletion.id, request)}`,
})

const isOpen = ({ status: state }: Deletion): boolean => state === 'requested' || state === 'waiting'

const waitsFor = ({ waitsFor: obstacles }: Deletion, request: PageRequest): Html | false =>
  obstacles.length > 0 &&
  box(
    'What must end first',
    html`<ul class="lines">${obstacles.map(({ type, id, howItEnds }) => html`<li>${words(type)} ${recordLink(request, id)}<span>${howItEnds}</span></li>`)}</ul>`,
  )

const kept = (deletion: Deletion, request: PageRequest): Html | false =>
  deletion.kept.length > 0 &&
  box(
    'What the law keeps',
    table(request, 'What the law keeps', deletion.kept, {
      Ground: 'law',
      Records: { figure: 'records' },
      Of: ({ areas }) => text(areas.join(', ')),
      'Removed on': ({ until }) => dayInWords(until.slice(0, 10)),
    }),
  )

type Export = AnswerOf<typeof exportApi.getExport>

const download = ({ id, status: state }: Export, { may, to }: PageRequest): Html | false =>
  state === 'ready' &&
  may(exportApi.archive) &&
  html`<a class="button" href="${to(`gdpr/exports/${id}/archive`)}" download>Download</a>`

export const exportsPage = listPage({
  title: 'What is held about somebody',
  lead: 'Archives of all that is held about the account, or about somebody else. Each can be downloaded for seven days.',
  operation: exportApi.listExports,
  filters: ['status'],
  events: ['gdpr.*'],
  names: ['people', 'beneficiaries'],
  empty: { words: 'Nobody has asked for an archive.', command: 'agentpay gdpr create-export' },
  above: request =>
    html`${operationForm(request, exportApi.createExport, { submit: 'Archive of this account' })}
${operationForm(request, exportApi.createExport, { ...somebody, submit: 'Archive about somebody else' })}`,
  columns: {
    Who: ({ id, subject }, request) => recordLink(request, id, nameOf(subject)),
    State: 'status',
    Records: { figure: 'records' },
    Until: 'expiresAt',
    'Answer by': ({ answerBy }) => time(answerBy),
    Asked: 'createdAt',
    Archive: download,
  },
})

export const exportPage = recordPage({
  kind: 'Archive',
  operation: exportApi.getExport,
  command: 'gdpr get-export',
  events: ['gdpr.*'],
  name: ({ subject }) => nameOf(subject),
  title: ({ subject }) => `Archive: ${nameOf(subject)}`,
  body: async (archive, request) => html`<div class="actions">${download(archive, request)}</div>
${box(
  'Archive',
  facts([
    ['About', whom(archive.subject, request)],
    ['Records', archive.records ?? none],
    ['Asked', time(archive.createdAt)],
    ['The law wants an answer by', time(archive.answerBy)],
    ['Ready', time(archive.readyAt)],
    ['Can be downloaded until', time(archive.expiresAt)],
    ['Process', runLink(request, archive.workflowId)],
  ]),
)}
${await history(archive.id, request)}`,
})
