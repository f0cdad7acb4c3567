import { kycApi } from '../../../../identity/kyc/index.ts'
import { onboardingApi } from '../../../../identity/onboarding/index.ts'
import { html } from '../../../../web/html.ts'
import { section } from '../../parts/section.ts'
import { box, table } from '../../parts/table.ts'
import { text, words } from '../../parts/text.ts'

export const submissions = section({
  kind: 'Identity',
  title: 'Identity',
  lead: 'Identity checks. Live keys require one.',
  list: kycApi.list,
  get: kycApi.get,
  columns: [
    'status',
    'createdAt',
    'decidedAt',
    { 'Rejection reason': ({ rejection }) => text(rejection?.reason) },
  ],
  labels: { provider: 'Checked by', createdAt: 'Submitted' },
  shows: { documents: ({ documents }) => documents.map(({ kind }) => html`${words(kind)}<br>`) },
  hidden: ['rejection', 'dateOfBirth', 'address'],
  events: ['kyc.*'],
  empty: 'No identity checks yet.',
  call: 'agentpay kyc create --help',
  note: ({ rejection }) =>
    rejection !== null && html`<p class="lead">${text(rejection.reason)} ${text(rejection.sendInstead)}</p>`,
})

export const onboardings = section({
  kind: 'Onboarding',
  title: 'Onboarding',
  lead: 'Onboarding of the company. Live keys require it.',
  list: onboardingApi.list,
  get: onboardingApi.get,
  name: ({ legalName }) => legalName,
  columns: ['status', { Missing: ({ missing }) => text(missing.join('; '), 300) }, 'createdAt', 'endedAt'],
  labels: {
    intendedUse: 'Intended use',
    expectedMonthlyVolumeEuros: 'Expected monthly volume',
    reason: 'Rejection reason',
  },
  shows: { missing: ({ missing }) => (missing.length > 0 ? text(missing.join('; '), 600) : 'nothing') },
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
    html`${box('Questions and answers', questions(informationRequests))}${box('Representatives', table(request, 'Representatives', representatives, ['name', 'position']))}`,
})

interface Round {
  readonly questions: readonly string[]
  readonly answer: string | null
}

const questions = (rounds: readonly Round[]) =>
  rounds.length > 0
    ? html`${rounds.map(({ questions, answer }) => html`<ul>${questions.map(one => html`<li>${text(one, 1_000)}</li>`)}</ul><p>${answer ? text(answer, 1_000) : 'Not answered yet.'}</p>`)}`
    : html`<p>No questions yet.</p>`
