import { ownCreditsApi } from '../../../../money/incoming/index.ts'
import { html } from '../../../../web/html.ts'
import { section } from '../../parts/section.ts'
import { plainEuros, words } from '../../parts/text.ts'
import { bookedFor } from './booked.ts'

interface Credit {
  readonly status: string
}

const isUnmatched = ({ status }: Credit): boolean => status === 'unmatched'

const assignment = {
  operation: ownCreditsApi.assignOwn,
  when: isUnmatched,
  success: 'It is in the wallet.',
} as const

export const incoming = section({
  kind: 'Incoming credit',
  lead: 'Money sent to you. Credits without a match wait until you assign them to a wallet.',
  list: ownCreditsApi.own,
  get: ownCreditsApi.getOwn,
  command: 'incoming get-own',
  name: ({ amountEuros }) => plainEuros(amountEuros),
  columns: ['senderName', 'reference', 'status', 'walletId', 'createdAt'],
  labels: {
    senderName: 'From',
    senderIban: 'Sender’s IBAN',
    iban: 'Sent to',
    payableId: 'Pays',
    endToEndId: 'Sender’s own number',
    bankReference: 'The bank’s number',
    reason: 'Not matched because',
  },
  shows: { reason: ({ reason }) => reason !== null && words(reason) },
  events: ['incoming.*'],
  empty: 'No incoming credits yet. A wallet’s page says how money is sent to it.',
  call: 'agentpay billing sepa-details',
  note: credit =>
    isUnmatched(credit) &&
    html`<p class="lead">No wallet matches this credit. It is held on your suspense account.</p>`,
  actions: [
    { ...assignment, variant: 'wallet', members: ['walletId'], submit: 'Put it into a wallet', tone: 'main' },
    { ...assignment, variant: 'reference', members: ['reference'], submit: 'Assign it by a reference' },
  ],
  below: ({ id }, request) => bookedFor([id], request),
})
