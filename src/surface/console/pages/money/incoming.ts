import { ownCreditsApi } from '../../../../money/incoming/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf, readNames } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, knownFacts } from '../../parts/table.ts'
import { euros, none, text, time, words } from '../../parts/text.ts'
import { bookedFor } from './booked.ts'

const events = ['incoming.*']

type Credit = ItemOf<typeof ownCreditsApi.own>

const columns: Columns<Credit> = {
  Credit: ({ id, amountEuros }, request) => recordLink(request, id, euros(amountEuros)),
  From: 'senderName',
  'Its text': 'reference',
  State: 'status',
  Wallet: 'walletId',
  Came: 'createdAt',
}

export const incomingPage = listPage({
  title: 'Incoming credits',
  lead: 'Money that was sent to you. What nobody can match waits until you say into which wallet it goes.',
  operation: ownCreditsApi.own,
  filters: ['status', 'walletId', 'from', 'to'],
  labels: { status: 'State', walletId: 'Wallet' },
  events,
  empty: {
    words: 'Nothing has been sent to you yet. A wallet’s page says how money is sent to it.',
    command: 'agentpay billing sepa-details',
  },
  names: ['wallets'],
  columns,
})

/** The form that says into which wallet a credit goes: by the wallet, or by a reference that its sender has mistyped. */
async function assignment({ id }: Pick<Credit, 'id'>, request: PageRequest): Promise<Html> {
  const options = { params: { id }, success: 'It is in the wallet.', fold: true } as const
  return html`<p class="lead">Nobody could tell for which wallet it is. It waits on your suspense account.</p>
<div class="actions">${operationForm(request, ownCreditsApi.assignOwn, {
    ...options,
    variant: 'wallet',
    members: ['walletId'],
    choices: { walletId: await choicesOf('wallets', request) },
    submit: 'Put it into a wallet',
    tone: 'main',
  })}${operationForm(request, ownCreditsApi.assignOwn, { ...options, variant: 'reference', members: ['reference'], submit: 'Assign it by a reference' })}</div>`
}

export const creditPage = recordPage({
  kind: 'Incoming credit',
  operation: ownCreditsApi.getOwn,
  command: 'incoming get-own',
  events,
  name: ({ amountEuros, senderName }) =>
    html`${euros(amountEuros)} from ${text(senderName ?? 'nobody known', 80)}`,
  title: ({ senderName }) => `Credit from ${senderName ?? 'nobody known'}`,
  async body(credit, request) {
    await readNames(request, 'wallets')
    return html`${credit.status === 'unmatched' && (await assignment(credit, request))}
${box(
  'Credit',
  knownFacts([
    ['Wallet', credit.walletId === null ? none : recordLink(request, credit.walletId)],
    ['Pays', recordLink(request, credit.payableId)],
    ['Why it was in no wallet at first', credit.reason === null ? none : words(credit.reason)],
    ['Its text', text(credit.reference, 300)],
    ['Sender’s IBAN', text(credit.senderIban)],
    ['Sent to', text(credit.iban)],
    ['Sender’s own number', text(credit.endToEndId)],
    ['By', words(credit.source)],
    ['The bank’s number', text(credit.bankReference)],
    ['Value date', credit.valueDate],
    ['Came', time(credit.createdAt)],
  ]),
)}
${await bookedFor([credit.id], request)}`
  },
})
