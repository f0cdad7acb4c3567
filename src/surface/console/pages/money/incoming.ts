import { ownCreditsApi } from '../../../../money/incoming/index.ts'
import { html } from '../../../../web/html.ts'
import { section } from '../../parts/section.ts'
import { plainEuros, words } from '../../parts/text.ts'
import { postingsFor } from './steps.ts'

interface Credit {
  readonly status: string
}

const isUnmatched = ({ status }: Credit): boolean => status === 'unmatched'

const assignment = {
  operation: ownCreditsApi.assignOwn,
  when: isUnmatched,
  success: 'Assigned.',
} as const

export const incoming = section({
  kind: 'Incoming credit',
  lead: 'Incoming bank transfers. Assign unmatched credits to a wallet.',
  list: ownCreditsApi.own,
  get: ownCreditsApi.getOwn,
  command: 'incoming get-own',
  name: ({ amountEuros }) => plainEuros(amountEuros),
  columns: ['senderName', 'reference', 'status', 'walletId', 'createdAt'],
  labels: {
    senderName: 'From',
    senderIban: 'Sender’s IBAN',
    iban: 'Sent to',
    payableId: 'Payment request',
    endToEndId: 'End-to-end ID',
    bankReference: 'Bank reference',
    reason: 'Unmatched reason',
  },
  shows: { reason: ({ reason }) => reason !== null && words(reason) },
  events: ['incoming.*'],
  empty: 'No incoming credits yet. The page of a wallet has its bank details.',
  call: 'agentpay billing sepa-details',
  note: credit =>
    isUnmatched(credit) &&
    html`<p class="lead">No wallet matches this credit. It is in your suspense account.</p>`,
  actions: [
    { ...assignment, variant: 'wallet', members: ['walletId'], submit: 'Assign to a wallet', tone: 'main' },
    { ...assignment, variant: 'reference', members: ['reference'], submit: 'Assign by reference' },
  ],
  below: ({ id }, request) => postingsFor([id], request),
})
