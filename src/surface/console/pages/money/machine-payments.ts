import { mppApi } from '../../../../commerce/mpp/index.ts'
import { originalOfConversion } from '../../../../money/exchange-rates/index.ts'
import { isUnusableInput, parseReceipt } from '../../../../mpp/index.ts'
import { formatOriginal } from '../../../../values/original-amount.ts'
import { type HtmlContent, html } from '../../../../web/html.ts'
import type { OperationAnswer } from '../../page.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox } from '../../parts/table.ts'
import { humanize, noneText, renderAmount, renderText, renderTime } from '../../parts/text.ts'
import { type HistoryStep, renderHistorySteps } from './steps.ts'

type Credential = OperationAnswer<typeof mppApi.get>

const ends: Readonly<Record<string, string>> = {
  consumed: 'Paid',
  void: 'Not paid: the intent can be paid again',
}

const priceInWords = (conversion: NonNullable<Credential['conversion']>): string => {
  const { rate, rateDate, marginPercent } = conversion
  return `${formatOriginal(originalOfConversion(conversion))}, converted at ${rate} to the euro (${rateDate}) plus ${marginPercent} %`
}

const stepsOf = (credential: Credential): readonly (HistoryStep | false)[] => [
  {
    what: 'Payment requested by the merchant',
    at: credential.askedAt,
    ...(credential.conversion && { note: priceInWords(credential.conversion) }),
  },
  { what: 'Credential created', at: credential.createdAt },
  credential.sentAt !== null && { what: 'Credential sent', at: credential.sentAt },
  credential.answeredAt !== null && {
    what: `Merchant response${credential.merchantStatus === null ? '' : ` ${credential.merchantStatus}`}`,
    at: credential.answeredAt,
    ...(credential.note && { note: renderText(credential.note, 400) }),
  },
  {
    what: ends[credential.status] ?? 'Outcome',
    at: credential.endedAt,
    ...(credential.outcomeBy && { note: `Source: ${humanize(credential.outcomeBy)}` }),
    ...(credential.endedAt === null &&
      credential.dueAt && { note: html`By ${renderTime(credential.dueAt)} at the latest` }),
  },
]

/** What the merchant signed. The JSON of the record has the receipt as it came. */
function receiptInWords({ receipt }: Credential): HtmlContent {
  if (receipt === null) return noneText
  const parsed = parseReceipt(receipt)
  if (isUnusableInput(parsed)) return 'unreadable'
  const { status, reference, timestamp } = parsed
  return html`${humanize(status)}, ${renderTime(timestamp)}<br>Reference <code>${renderText(reference, 100)}</code>`
}

/** A person asks the merchant, and then sets the unknown outcome. */
const resolve = {
  operation: mppApi.resolve,
  when: ({ status }: Credential) => status !== 'consumed' && status !== 'void',
  members: ['comment'],
} as const

export const machinePaymentsSection = consoleSection({
  kind: 'Machine payment',
  lead: 'Payments of agents to services that request payment by HTTP 402.',
  list: mppApi.list,
  summary: 'newest',
  guide: 'machine-payments',
  get: mppApi.get,
  noun: 'mpp',
  name: ({ merchant }) => merchant,
  columns: ['amountEuros', 'status', 'agentId', 'createdAt'],
  labels: { url: 'URL', merchantName: 'Merchant’s own name', transactionId: 'Payment' },
  shows: {
    receipt: receiptInWords,
    amountEuros: ({ amountEuros, conversion }) =>
      renderAmount(amountEuros, conversion && originalOfConversion(conversion)),
  },
  hidden: [
    'merchant',
    'conversion',
    'askedAt',
    'createdAt',
    'sentAt',
    'answeredAt',
    'endedAt',
    'dueAt',
    'nextAction',
    'note',
    'outcomeBy',
    'merchantStatus',
  ],
  events: ['mpp.*'],
  empty: 'No machine payments yet. Agents pay them by card on an approved intent.',
  call: 'agentpay mpp pay --url https://shop.example.com/reports/42 --intent-id intent_…',
  note: ({ nextAction, dueAt }) =>
    nextAction &&
    html`<p>The card’s issuer wants a person to confirm this payment${dueAt && html` by ${renderTime(dueAt)}`}. Then the agent repeats its request.</p>
<p><a class="button" href="${nextAction.url}">Confirm the payment</a></p>`,
  buttons: ({ to }) => html`<a class="button" href="${to('console/protect-rules')}">Allowed payees</a>`,
  actions: [
    {
      ...resolve,
      when: (credential: Credential) => resolve.when(credential) && credential.credentialDigest !== '',
      variant: 'paid',
      given: { outcome: 'paid' },
      submit: 'Mark as paid',
      confirm: 'Mark as paid? The held amount is captured.',
    },
    {
      ...resolve,
      variant: 'not',
      given: { outcome: 'not_paid' },
      submit: 'Mark as not paid',
      tone: 'against',
      confirm: 'Mark as not paid? The intent can be paid again.',
    },
  ],
  boxes: (credential, { to }) =>
    renderBox(
      'Steps',
      renderHistorySteps(stepsOf(credential)),
      html`<p><a href="${to(`v1/mpp/credentials/${credential.id}/evidence`)}">Signed evidence</a></p>`,
    ),
})
