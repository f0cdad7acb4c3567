import { kycApi } from '../../../../identity/kyc/index.ts'
import { onboardingApi } from '../../../../identity/onboarding/index.ts'
import { html } from '../../../../web/html.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink, runLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, facts, table } from '../../parts/table.ts'
import { euros, text, time, words } from '../../parts/text.ts'
import { history } from './shared.ts'

export const submissionsPage = listPage({
  title: 'Identity',
  lead: 'Who was, or is to be, verified before live keys can be made.',
  operation: kycApi.list,
  filters: ['status'],
  events: ['kyc.*'],
  empty: { words: 'Nobody’s identity was submitted yet.', command: 'agentpay kyc create --help' },
  columns: {
    Person: ({ id, name }, request) => recordLink(request, id, text(name)),
    State: 'status',
    Sent: 'createdAt',
    Decided: 'decidedAt',
    'Rejected because': ({ rejection }) => text(rejection?.reason),
  },
})

export const submissionPage = recordPage({
  kind: 'Identity',
  operation: kycApi.get,
  events: ['kyc.*'],
  async body(submission, request) {
    const { rejection, documents } = submission
    return html`${rejection !== null && html`<p class="lead">${text(rejection.reason)} ${text(rejection.sendInstead)}</p>`}
${box(
  'Submission',
  facts([
    ['Checked by', text(submission.provider)],
    ['Nationality', submission.nationality],
    ['Documents', html`${documents.map(({ kind }) => html`${words(kind)}<br>`)}`],
    ['Sent', time(submission.createdAt)],
    ['Decided', time(submission.decidedAt)],
    ['Run in Temporal', runLink(request, submission.workflowId)],
  ]),
)}${await history(submission.id, request)}`
  },
})

export const onboardingsPage = listPage({
  title: 'Onboarding',
  lead: 'Of a company, before live keys can be made.',
  operation: onboardingApi.list,
  filters: ['status'],
  events: ['onboarding.*'],
  empty: { words: 'No onboarding was submitted yet.', command: 'agentpay onboarding create --help' },
  columns: {
    Company: ({ id, legalName }, request) => recordLink(request, id, text(legalName)),
    State: 'status',
    Missing: ({ missing }) => text(missing.join('; '), 300),
    Sent: 'createdAt',
    Ended: 'endedAt',
  },
})

export const onboardingPage = recordPage({
  kind: 'Onboarding',
  operation: onboardingApi.get,
  events: ['onboarding.*'],
  name: ({ legalName }) => text(legalName),
  title: ({ legalName }) => legalName,
  async body(onboarding, request) {
    const { id, missing, representatives, endedAt } = onboarding
    const params = { id }
    const question = 'Withdraw the onboarding? A new one can be submitted afterwards.'
    return html`<div class="actions">
${onboarding.status === 'needs_information' && operationForm(request, onboardingApi.update, { params, members: ['answer', 'registerNumber', 'website', 'intendedUse'], submit: 'Answer', fold: true })}
${endedAt === null && operationForm(request, onboardingApi.withdraw, { params, submit: 'Withdraw', tone: 'against', confirm: question })}
</div>
${box(
  'Company',
  facts([
    ['Missing', missing.length > 0 ? text(missing.join('; '), 600) : 'nothing'],
    ['Legal form', text(onboarding.legalForm)],
    ['Register number', text(onboarding.registerNumber)],
    ['Use', text(onboarding.intendedUse, 1_000)],
    ['Expected in a month', euros(onboarding.expectedMonthlyVolumeEuros)],
    ['Rejected because', text(onboarding.reason)],
    ['Run in Temporal', runLink(request, onboarding.workflowId)],
  ]),
)}
${box('Questions and answers', questions(onboarding.informationRequests))}
${box(
  'Representatives',
  table(request, 'Representatives', representatives, { Name: 'name', Position: 'position' }),
)}${await history(id, request)}`
  },
})

interface Round {
  readonly questions: readonly string[]
  readonly answer: string | null
}

const questions = (rounds: readonly Round[]) =>
  rounds.length > 0
    ? html`${rounds.map(({ questions, answer }) => html`<ul>${questions.map(one => html`<li>${text(one, 1_000)}</li>`)}</ul><p>${answer ? text(answer, 1_000) : 'Not answered yet.'}</p>`)}`
    : html`<p>Nothing was asked.</p>`
