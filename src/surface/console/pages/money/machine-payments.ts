import { mppApi } from '../../../../commerce/mpp/index.ts'
import { html } from '../../../../web/html.ts'
import type { AnswerOf } from '../../page.ts'
import { section } from '../../parts/section.ts'
import { box } from '../../parts/table.ts'
import { text, time, words } from '../../parts/text.ts'
import { type Step, steps } from './booked.ts'

type Credential = AnswerOf<typeof mppApi.get>

const ends: Readonly<Record<string, string>> = {
  consumed: 'Paid',
  void: 'Not paid: the intent is free again',
}

const stepsOf = (credential: Credential): readonly (Step | false)[] => [
  { what: 'The address asked for money', at: credential.askedAt },
  { what: 'One credential was made', at: credential.createdAt },
  credential.sentAt !== null && { what: 'It was sent', at: credential.sentAt },
  credential.answeredAt !== null && {
    what: `The merchant answered${credential.merchantStatus === null ? '' : ` ${credential.merchantStatus}`}`,
    at: credential.answeredAt,
    ...(credential.note && { note: text(credential.note, 400) }),
  },
  {
    what: ends[credential.status] ?? 'Outcome',
    at: credential.endedAt,
    ...(credential.outcomeBy && { note: `According to: ${words(credential.outcomeBy)}` }),
    ...(credential.endedAt === null &&
      credential.dueAt && { note: html`At the latest ${time(credential.dueAt)}` }),
  },
]

/** A person sets an unknown outcome after asking the merchant. */
const resolve = {
  operation: mppApi.resolve,
  when: ({ status }: Credential) => status !== 'consumed' && status !== 'void',
  members: ['comment'],
} as const

export const machinePayments = section({
  kind: 'Machine payment',
  lead: 'What agents have paid to addresses that ask for money by HTTP 402.',
  list: mppApi.list,
  get: mppApi.get,
  noun: 'mpp',
  name: ({ merchant }) => merchant,
  columns: ['amountEuros', 'status', 'agentId', 'createdAt'],
  labels: { url: 'Address', merchantName: 'Calls itself', transactionId: 'Payment' },
  hidden: [
    'merchant',
    'askedAt',
    'createdAt',
    'sentAt',
    'answeredAt',
    'endedAt',
    'dueAt',
    'note',
    'outcomeBy',
    'merchantStatus',
  ],
  events: ['mpp.*'],
  empty: 'No machine payments yet. An agent pays one on an approved intent, with a card.',
  call: 'agentpay mpp pay --url https://shop.example.com/reports/42 --intent-id intent_…',
  above: ({ to }) => html`<a class="button" href="${to('console/protect-rules')}">Allowed payees</a>`,
  actions: [
    {
      ...resolve,
      variant: 'paid',
      given: { outcome: 'paid' },
      submit: 'It was paid',
      confirm: 'Say that the merchant has the money? It is captured then.',
    },
    {
      ...resolve,
      variant: 'not',
      given: { outcome: 'not_paid' },
      submit: 'It was not paid',
      tone: 'against',
      confirm: 'Say that nothing was paid? The intent can be paid again then.',
    },
  ],
  boxes: (credential, { to }) =>
    box(
      'Steps',
      steps(stepsOf(credential)),
      html`<p><a href="${to(`v1/mpp/credentials/${credential.id}/evidence`)}">Signed evidence</a></p>`,
    ),
})
