import { ownCreditsApi } from '../../../../money/incoming/index.ts'
import { html } from '../../../../web/html.ts'
import { consoleSection } from '../../parts/section.ts'
import { formatPlainEuros, valueText } from '../../parts/text.ts'
import { renderPostingsFor } from './steps.ts'

interface Credit {
  readonly status: string
}

const isUnmatched = ({ status }: Credit): boolean => status === 'unmatched'

const assignment = {
  operation: ownCreditsApi.assignOwn,
  when: isUnmatched,
  success: 'Assigned.',
} as const

export const incomingCreditsSection = consoleSection({
  kind: 'Incoming credit',
  lead: 'Incoming bank transfers. Assign unmatched credits to a wallet.',
  list: ownCreditsApi.own,
  get: ownCreditsApi.getOwn,
  command: 'incoming get-own',
  name: ({ amountEuros }) => formatPlainEuros(amountEuros),
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
  shows: { reason: ({ reason }) => reason !== null && valueText(reason) },
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
  below: ({ id }, request) => renderPostingsFor([id], request),
})
