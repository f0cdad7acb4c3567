import { limitsApi, transfersApi, waitsForPayee } from '../../../../commerce/transfers/index.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { type Choices, operationForm } from '../../parts/form.ts'
import { copyable, recordLink } from '../../parts/links.ts'
import { choicesOf } from '../../parts/names.ts'
import { section } from '../../parts/section.ts'
import { box } from '../../parts/table.ts'
import { euros, none, plainEuros, text, usage, words } from '../../parts/text.ts'
import { postingsFor, type Step, steps } from './steps.ts'

const transferEventNames = ['payment.updated', 'transfer.*']

const LABELS = {
  fromWalletId: 'From wallet',
  toWalletId: 'To wallet',
  beneficiaryId: 'To beneficiary',
  amountEuros: 'Amount in euros',
  reference: 'Reference for the payee',
  scheme: 'Scheme',
}

async function payForms(request: PageRequest): Promise<Content> {
  const { may, ask } = request
  if (!may(transfersApi.create)) return false
  const [wallets, beneficiaries, limits] = await Promise.all([
    choicesOf('wallets', request),
    choicesOf('beneficiaries', request),
    ask(limitsApi.limits),
  ])
  return html`${payForm('beneficiaryId', wallets, beneficiaries, request)}${payForm('toWalletId', wallets, wallets, request)}
<p class="wide">SEPA limit today: ${usage(limits.usedEuros, limits.dailyEuros)}; up to ${euros(limits.singleEuros)} per transfer.</p>`
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
    submit: isSepa ? 'Pay by SEPA' : 'Transfer between wallets',
    done: 'go:console/transfers/{id}',
    fold: true,
  })
}

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
  match: 'Payee check: the name matches',
  close_match: 'Payee check: the name is similar',
  no_match: 'Payee check: the name does not match',
  not_possible: 'Payee check: not available at this bank',
}

const isOver = ({ status }: Transfer): boolean => ['rejected', 'cancelled', 'returned'].includes(status)

const inWords = ({ code, message }: Reason): Html => html`${text(message, 300)} <code>${code}</code>`

function stepsOf(transfer: Transfer): readonly (Step | false)[] {
  const { kind, payeeCheck, payeeConfirmedAt, recall, reason, submittedAt, completedAt } = transfer
  const isSepa = kind === 'sepa'
  const isOn = !isOver(transfer)
  return [
    { what: 'Created', at: transfer.createdAt },
    payeeCheck !== null && {
      what: results[payeeCheck.result] ?? words(payeeCheck.result),
      at: payeeCheck.at,
      ...(payeeCheck.suggestedName && {
        note: html`Name at the bank: ${text(payeeCheck.suggestedName, 140)}`,
      }),
    },
    (payeeConfirmedAt !== null || waitsForPayee(transfer)) && {
      what: 'Payee confirmed by a person',
      at: payeeConfirmedAt,
    },
    isSepa && (submittedAt !== null || isOn) && { what: 'Submitted to the bank', at: submittedAt },
    (completedAt !== null || isOn) && {
      what: 'Paid to the payee',
      at: completedAt,
      ...(isOn && reason && { note: inWords(reason) }),
    },
    recall !== null && { what: 'Recall requested', at: recall.at, note: text(recall.reason, 300) },
    recall !== null && {
      what: `Recall: ${words(recall.status)}`,
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

function confirmPayee(transfer: Transfer, amount: string, request: PageRequest): Html {
  const { payeeCheck, id, status } = transfer
  const until =
    status === 'verifying'
      ? 'Without a decision, the transfer is cancelled after seven days.'
      : 'The bank has the order: release or cancel it there as well.'
  const said = payeeCheck ? results[payeeCheck.result] : ''
  return box(
    'Is this the payee?',
    html`<p>${said}${payeeCheck?.suggestedName && html`: <strong>${text(payeeCheck.suggestedName, 140)}</strong>`}. ${until}</p>`,
    operationForm(request, transfersApi.confirmPayee, {
      params: { id },
      members: ['comment'],
      submit: 'Pay anyway',
      tone: 'main',
      confirm: `Pay ${amount} although the payee check failed?`,
    }),
  )
}

export const transfers = section({
  kind: 'Transfer',
  lead: 'Transfers between your wallets, and SEPA transfers to beneficiaries.',
  list: transfersApi.list,
  get: transfersApi.get,
  name: ({ amountEuros, reference }) => `${plainEuros(amountEuros)} ${reference ?? ''}`.trim(),
  columns: ['status', 'reason', 'fromWalletId', { To: payeeOf }, 'createdAt'],
  labels: { fromWalletId: 'From', toWalletId: 'To', beneficiaryId: 'To', transactionId: 'Payment' },
  shows: { endToEndId: ({ endToEndId }) => endToEndId !== null && copyable(endToEndId) },
  hidden: ['reason', 'payeeCheck', 'payeeConfirmedAt', 'recall', 'createdAt', 'submittedAt', 'completedAt'],
  events: transferEventNames,
  empty: 'No transfers yet. Create one here or by API.',
  call: 'agentpay transfers create --from-wallet-id wallet_… --beneficiary-id beneficiary_… --amount-euros 12.50',
  above: payForms,
  note: (transfer, request) =>
    waitsForPayee(transfer) && confirmPayee(transfer, plainEuros(transfer.amountEuros), request),
  actions: [
    {
      operation: transfersApi.cancel,
      when: ({ status }) => status === 'created' || status === 'verifying',
      tone: 'against',
      forRecord: ({ amountEuros }) => ({
        confirm: `Cancel the transfer of ${plainEuros(amountEuros)}? The money stays in the wallet.`,
      }),
    },
    {
      operation: transfersApi.recall,
      when: ({ kind, status, recall }) =>
        kind === 'sepa' && (status === 'submitted' || status === 'completed') && recall === null,
      submit: 'Recall',
      tone: 'against',
      forRecord: ({ amountEuros }) => ({
        confirm: `Recall ${plainEuros(amountEuros)}? The payee’s bank may refuse.`,
      }),
    },
  ],
  boxes: (transfer, request) =>
    box(
      'Steps',
      steps(stepsOf(transfer)),
      transfer.kind === 'sepa' &&
        request.may(transfersApi.pain001) &&
        html`<p><a href="${request.to(`transfers/${transfer.id}/pain001`)}" download>Payment order (pain.001)</a></p>`,
    ),
  below: ({ id, intentId }, request) => postingsFor([id, intentId], request),
})
