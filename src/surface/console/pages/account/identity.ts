import { kycApi } from '../../../../identity/kyc/index.ts'
import { onboardingApi } from '../../../../identity/onboarding/index.ts'
import { html } from '../../../../web/html.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox, renderTable } from '../../parts/table.ts'
import { renderText, valueText } from '../../parts/text.ts'

export const kycSubmissionsSection = consoleSection({
  kind: 'Identity',
  title: 'Identity',
  lead: 'Identity checks. Live keys require one.',
  list: kycApi.list,
  get: kycApi.get,
  columns: [
    'status',
    'createdAt',
    'decidedAt',
    { 'Rejection reason': ({ rejection }) => renderText(rejection?.reason) },
  ],
  labels: { provider: 'Checked by', createdAt: 'Submitted' },
  shows: { documents: ({ documents }) => documents.map(({ kind }) => html`${valueText(kind)}<br>`) },
  hidden: ['rejection', 'dateOfBirth', 'address'],
  events: ['kyc.*'],
  empty: 'No identity checks yet.',
  call: 'agentpay kyc create --help',
  actions: [
    {
      operation: kycApi.page,
      when: ({ provider, decidedAt }) => provider === 'stripe' && decidedAt === null,
      members: [],
      submit: 'Get the page for documents',
    },
  ],
  note: ({ rejection }) =>
    rejection !== null &&
    html`<p class="lead">${renderText(rejection.reason)} ${renderText(rejection.sendInstead)}</p>`,
})

export const onboardingsSection = consoleSection({
  kind: 'Onboarding',
  title: 'Onboarding',
  lead: 'Onboarding of the company. Live keys require it.',
  list: onboardingApi.list,
  get: onboardingApi.get,
  name: ({ legalName }) => legalName,
  columns: [
    'status',
    { Missing: ({ missing }) => renderText(missing.join('; '), 300) },
    'createdAt',
    'endedAt',
  ],
  labels: {
    intendedUse: 'Intended use',
    expectedMonthlyVolumeEuros: 'Expected monthly volume',
    reason: 'Rejection reason',
  },
  shows: { missing: ({ missing }) => (missing.length > 0 ? renderText(missing.join('; '), 600) : 'nothing') },
  hidden: ['legalName', 'informationRequests', 'representatives', 'beneficialOwners'],
  empty: 'No onboarding yet.',
  call: 'agentpay onboarding create --help',
  actions: [
    {
      operation: onboardingApi.update,
      when: ({ status }) => status === 'needs_information',
      members: ['answer', 'registerNumber', 'website', 'intendedUse'],
      submit: 'Answer',
    },
    {
      operation: onboardingApi.withdraw,
      when: ({ endedAt }) => endedAt === null,
      members: [],
      tone: 'against',
      confirm: 'Withdraw the onboarding? A new one can be submitted afterwards.',
    },
  ],
  below: ({ informationRequests, representatives }, request) =>
    html`${renderBox('Questions and answers', questions(informationRequests))}${renderBox('Representatives', renderTable(request, 'Representatives', representatives, ['name', 'position']))}`,
})

interface Round {
  readonly questions: readonly string[]
  readonly answer: string | null
}

const questions = (rounds: readonly Round[]) =>
  rounds.length > 0
    ? html`${rounds.map(({ questions, answer }) => html`<ul>${questions.map(one => html`<li>${renderText(one, 1_000)}</li>`)}</ul><p>${answer ? renderText(answer, 1_000) : 'Not answered yet.'}</p>`)}`
    : html`<p>No questions yet.</p>`
