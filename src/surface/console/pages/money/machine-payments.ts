import { mppApi } from '../../../../commerce/mpp/index.ts'
import { type Content, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { copyable, recordLink, runLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { readNames } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, knownFacts } from '../../parts/table.ts'
import { euros, none, text, time, words } from '../../parts/text.ts'
import { type Step, steps } from './booked.ts'

const events = ['mpp.*']

export const machinePaymentsPage = listPage({
  title: 'Machine payments',
  lead: 'What agents have paid to addresses that ask for money by HTTP 402.',
  operation: mppApi.list,
  filters: ['status', 'agentId', 'intentId', 'cardId'],
  events,
  empty: {
    words: 'No machine payment yet. An agent pays one on an approved intent, with a card.',
    command: 'agentpay mpp pay --url https://shop.example.com/reports/42 --intent-id intent_…',
  },
  above: ({ to }) => html`<a class="button" href="${to('console/protect-rules')}">Whom they may go to</a>`,
  names: ['agents'],
  columns: {
    'Paid to': ({ id, merchant }, request) => recordLink(request, id, text(merchant, 80)),
    Amount: 'amountEuros',
    State: 'status',
    Agent: 'agentId',
    When: 'createdAt',
  },
})

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
    what: ends[credential.status] ?? 'What became of it',
    at: credential.endedAt,
    ...(credential.outcomeBy && { note: `By the word of: ${words(credential.outcomeBy)}` }),
    ...(credential.endedAt === null &&
      credential.dueAt && { note: html`At the latest ${time(credential.dueAt)}` }),
  },
]

/** An outcome that nobody knows is said by a person who has learnt it from the merchant. */
function outcomeForms({ id, status: state }: Credential, request: PageRequest): Content {
  if (state === 'consumed' || state === 'void') return false
  const params = { id }
  const paid = operationForm(request, mppApi.resolve, {
    params,
    variant: 'paid',
    given: { outcome: 'paid' },
    members: ['comment'],
    submit: 'It was paid',
    confirm: 'Say that the merchant has the money? It is captured then.',
    fold: true,
  })
  const not = operationForm(request, mppApi.resolve, {
    params,
    variant: 'not',
    given: { outcome: 'not_paid' },
    members: ['comment'],
    submit: 'It was not paid',
    tone: 'against',
    confirm: 'Say that nothing was paid? The intent can be paid again then.',
    fold: true,
  })
  return html`<div class="actions">${paid}${not}</div>`
}

export const machinePaymentPage = recordPage({
  kind: 'Machine payment',
  operation: mppApi.get,
  command: 'mpp get',
  events,
  name: ({ amountEuros, merchant }) => html`${euros(amountEuros)} to ${text(merchant, 100)}`,
  title: ({ merchant }) => `Machine payment to ${merchant}`,
  async body(credential, request) {
    await readNames(request, 'agents')
    const { id, receipt, workflowId } = credential
    return html`${outcomeForms(credential, request)}
<div class="boxes">${box(
      'Machine payment',
      knownFacts([
        ['Address', html`<code>${credential.method}</code> ${text(credential.url, 400)}`],
        ['Calls itself', text(credential.merchantName)],
        ['Agent', recordLink(request, credential.agentId)],
        ['Intent', recordLink(request, credential.intentId)],
        ['Card', recordLink(request, credential.cardId)],
        ['Network', credential.network],
        ['Sent by', words(credential.sentBy)],
        ['Payment', recordLink(request, credential.transactionId)],
        ['Receipt', receipt ? copyable(receipt.slice(0, 400)) : none],
        ['Digest of the request', html`<code>${credential.requestDigest}</code>`],
        ['Digest of the credential', html`<code>${credential.credentialDigest}</code>`],
        ['Run in Temporal', runLink(request, workflowId)],
      ]),
      html`<p><a href="${request.to(`v1/mpp/credentials/${id}/evidence`)}">Signed evidence</a></p>`,
    )}${box('Steps', steps(stepsOf(credential)))}</div>`
  },
})
