import { limitsApi, transfersApi, waitsForPayee } from '../../../../commerce/transfers/index.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { type Choices, operationForm } from '../../parts/form.ts'
import { copyable, recordLink, runLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf, readNames } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, knownFacts, table } from '../../parts/table.ts'
import { euros, none, plainEuros, status, text, usage, words } from '../../parts/text.ts'
import { bookedFor, type Step, steps } from './booked.ts'

const transferEventNames = ['payment.updated', 'transfer.*']

const LABELS = {
  fromWalletId: 'From wallet',
  toWalletId: 'To wallet',
  beneficiaryId: 'To beneficiary',
  amountEuros: 'Amount in euros',
  reference: 'Reference, as the payee reads it',
  scheme: 'Scheme',
}

/** What a payment from the console needs: its sum and payee are signed with a passkey. */
async function payForms(request: PageRequest): Promise<Content> {
  const { may, ask } = request
  if (!may(transfersApi.create)) return false
  const [wallets, beneficiaries, limits] = await Promise.all([
    choicesOf('wallets', request),
    choicesOf('beneficiaries', request),
    ask(limitsApi.limits),
  ])
  return html`${payForm('beneficiaryId', wallets, beneficiaries, request)}${payForm('toWalletId', wallets, wallets, request)}
<p class="wide">By SEPA today: ${usage(limits.usedEuros, limits.dailyEuros)}; one transfer at most ${euros(limits.singleEuros)}.</p>`
}

function payForm(
  payee: 'toWalletId' | 'beneficiaryId',
  wallets: Choices,
  payees: Choices,
  request: PageRequest,
): Html {
  const isSepa = payee === 'beneficiaryId'
  return operationForm(request, transfersApi.create, {
    variant: payee,
    members: ['fromWalletId', payee, 'amountEuros', 'reference', ...(isSepa ? ['scheme'] : [])],
    labels: LABELS,
    choices: { fromWalletId: wallets, [payee]: payees },
    submit: isSepa ? 'Pay by SEPA' : 'Move between wallets',
    done: 'go:console/transfers/{id}',
    fold: true,
  })
}

export const transfersPage = listPage({
  title: 'Transfers',
  lead: 'What goes from a wallet into another one, or by SEPA to a beneficiary.',
  operation: transfersApi.list,
  filters: [
    'status',
    'kind',
    'agentId',
    'beneficiaryId',
    'fromWalletId',
    'toWalletId',
    'intentId',
    'from',
    'to',
  ],
  events: transferEventNames,
  empty: {
    words: 'No transfer yet. Pay one here, or by a call.',
    command:
      'agentpay transfers create --from-wallet-id wallet_… --beneficiary-id beneficiary_… --amount-euros 12.50',
  },
  above: payForms,
  names: ['wallets', 'beneficiaries'],
  columns: {
    Transfer: ({ id, reference, amountEuros }, request) =>
      recordLink(request, id, reference === null ? euros(amountEuros) : text(reference, 60)),
    Amount: 'amountEuros',
    State: ({ status: state, reason }) => html`${status(state)} ${reason && text(reason.message, 100)}`,
    From: 'fromWalletId',
    To: (transfer, request) => payeeOf(transfer, request),
    When: 'createdAt',
  },
})

interface Payees {
  readonly toWalletId: string | null
  readonly beneficiaryId: string | null
  readonly parts: readonly unknown[] | null
}

function payeeOf({ toWalletId, beneficiaryId, parts }: Payees, request: PageRequest): Content {
  if (parts) return `${parts.length} wallets`
  const payee = toWalletId ?? beneficiaryId
  return payee ? recordLink(request, payee) : none
}

interface Reason {
  readonly code: string
  readonly message: string
}

type Transfer = AnswerOf<typeof transfersApi.get>

const results: Readonly<Record<string, string>> = {
  match: 'The payee’s bank knows the account by this name',
  close_match: 'The payee’s bank knows the account by a similar name',
  no_match: 'The payee’s bank knows the account by another name',
  not_possible: 'The payee’s bank cannot say whose account it is',
}

const isOver = ({ status }: Transfer): boolean => ['rejected', 'cancelled', 'returned'].includes(status)

const inWords = ({ code, message }: Reason): Html => html`${text(message, 300)} <code>${code}</code>`

function stepsOf(transfer: Transfer): readonly (Step | false)[] {
  const { kind, payeeCheck, payeeConfirmedAt, recall, reason, submittedAt, completedAt } = transfer
  const isSepa = kind === 'sepa'
  const isOn = !isOver(transfer)
  return [
    { what: 'Ordered', at: transfer.createdAt },
    payeeCheck !== null && {
      what: results[payeeCheck.result] ?? words(payeeCheck.result),
      at: payeeCheck.at,
      ...(payeeCheck.suggestedName && { note: html`The bank says: ${text(payeeCheck.suggestedName, 140)}` }),
    },
    (payeeConfirmedAt !== null || waitsForPayee(transfer)) && {
      what: 'A person says to pay all the same',
      at: payeeConfirmedAt,
    },
    isSepa && (submittedAt !== null || isOn) && { what: 'With the bank', at: submittedAt },
    (completedAt !== null || isOn) && {
      what: 'The payee has the money',
      at: completedAt,
      ...(isOn && reason && { note: inWords(reason) }),
    },
    recall !== null && { what: 'Asked back', at: recall.at, note: text(recall.reason, 300) },
    recall !== null && {
      what: `The payee’s bank on the recall: ${words(recall.status)}`,
      at: recall.answeredAt,
      ...(recall.answer && { note: inWords(recall.answer) }),
    },
    !isOn && {
      what: words(transfer.status),
      at: transfer.updatedAt,
      ...(reason && { note: inWords(reason) }),
    },
  ]
}

/** What may be done about it, as it stands. */
function actionsOf(transfer: Transfer, amount: string, request: PageRequest): Content {
  const params = { id: transfer.id }
  const { status, kind, recall } = transfer
  const mayLeave = status === 'created' || status === 'verifying'
  const hasLeft = kind === 'sepa' && (status === 'submitted' || status === 'completed')
  return html`${waitsForPayee(transfer) && confirmPayee(transfer, amount, request)}
<div class="actions">${
    mayLeave &&
    operationForm(request, transfersApi.cancel, {
      params,
      members: ['comment'],
      submit: 'Cancel',
      tone: 'against',
      confirm: `Cancel the transfer of ${amount}? Nothing leaves the wallet.`,
      fold: true,
    })
  }${
    hasLeft &&
    recall === null &&
    operationForm(request, transfersApi.recall, {
      params,
      members: ['reason'],
      submit: 'Ask for it back',
      tone: 'against',
      confirm: `Ask the payee’s bank for ${amount} back? It may refuse.`,
      fold: true,
    })
  }</div>`
}

function confirmPayee(transfer: Transfer, amount: string, request: PageRequest): Html {
  const { payeeCheck, id, status } = transfer
  const until =
    status === 'verifying'
      ? 'The transfer waits for a person, for seven days.'
      : 'The bank has the order. Release or cancel it there as you decide.'
  const said = payeeCheck ? results[payeeCheck.result] : ''
  return box(
    'Is this the payee?',
    html`<p>${said}${payeeCheck?.suggestedName && html`: <strong>${text(payeeCheck.suggestedName, 140)}</strong>`}. ${until}</p>`,
    operationForm(request, transfersApi.confirmPayee, {
      params: { id },
      members: ['comment'],
      submit: 'Pay all the same',
      tone: 'main',
      confirm: `Pay ${amount} although the bank knows the payee otherwise?`,
    }),
  )
}

export const transferPage = recordPage({
  kind: 'Transfer',
  operation: transfersApi.get,
  events: transferEventNames,
  name: ({ amountEuros, reference }) => html`${euros(amountEuros)} ${reference && text(reference, 80)}`,
  title: ({ reference, id }) => `Transfer ${reference ?? id}`,
  async body(transfer, request) {
    const { id, parts, intentId, transactionId, agentId, scheme, endToEndId, workflowId, kind } = transfer
    const [booked] = await Promise.all([
      bookedFor([id, intentId], request),
      readNames(request, 'wallets', 'beneficiaries', 'agents'),
    ])
    return html`${actionsOf(transfer, plainEuros(transfer.amountEuros), request)}
<div class="boxes">${box(
      'Transfer',
      knownFacts([
        ['From', recordLink(request, transfer.fromWalletId)],
        ['To', payeeOf(transfer, request)],
        ['Agent', recordLink(request, agentId)],
        ['Kind', words(kind)],
        ['Scheme', scheme ? words(scheme) : none],
        ['Reference', text(transfer.reference, 140)],
        ['Intent', recordLink(request, intentId)],
        ['Payment', recordLink(request, transactionId)],
        ['End-to-end id', endToEndId ? copyable(endToEndId) : none],
        ['Run in Temporal', runLink(request, workflowId)],
      ]),
      kind === 'sepa' &&
        request.may(transfersApi.pain001) &&
        html`<p><a href="${request.to(`transfers/${id}/pain001`)}" download>Payment order (pain.001)</a></p>`,
    )}${box('Steps', steps(stepsOf(transfer)))}</div>
${parts && partsTable(parts, request)}
${booked}`
  },
})

const partsTable = (
  parts: readonly { readonly walletId: string; readonly amountEuros: number }[],
  request: PageRequest,
): Html =>
  box(
    'Parts',
    table(request, 'Who gets what', parts, {
      Wallet: ({ walletId }) => recordLink(request, walletId),
      Amount: 'amountEuros',
    }),
  )
