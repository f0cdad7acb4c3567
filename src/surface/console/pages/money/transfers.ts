import {
  awaitsPayeeConfirmation,
  transferLimitsApi,
  transfersApi,
} from '../../../../commerce/transfers/index.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import type { OperationAnswer, PageRequest } from '../../page.ts'
import { type FieldChoices, renderOperationForm } from '../../parts/form.ts'
import { copyableText, renderRecordLink } from '../../parts/links.ts'
import { recordChoices } from '../../parts/names.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox } from '../../parts/table.ts'
import { formatPlainEuros, humanize, noneText, renderEuros, renderText, valueText } from '../../parts/text.ts'
import { type HistoryStep, renderHistorySteps, renderPostingsFor } from './steps.ts'

const transferEventNames = ['payment.updated', 'transfer.*']

const LABELS = {
  fromWalletId: 'From wallet',
  toWalletId: 'To wallet',
  beneficiaryId: 'To beneficiary',
  amountEuros: 'Amount in euros',
  reference: 'Reference for the payee',
  scheme: 'Scheme',
}

async function payForms(request: PageRequest): Promise<HtmlContent> {
  if (!request.may(transfersApi.create)) return false
  const [wallets, beneficiaries] = await Promise.all([
    recordChoices('wallets', request),
    recordChoices('beneficiaries', request),
  ])
  return html`${payForm('toWalletId', wallets, wallets, request)}${payForm('beneficiaryId', wallets, beneficiaries, request)}`
}

async function limitsToday({ ask, may }: PageRequest): Promise<HtmlContent> {
  if (!may(transfersApi.create)) return false
  const { usedEuros, dailyEuros, singleEuros } = await ask(transferLimitsApi.limits)
  return html`<p class="note">SEPA today: ${renderEuros(usedEuros)} of ${renderEuros(dailyEuros)}, up to ${renderEuros(singleEuros)} per transfer.</p>`
}

function payForm(
  payee: 'toWalletId' | 'beneficiaryId',
  wallets: FieldChoices,
  payees: FieldChoices,
  request: PageRequest,
): Html {
  const isSepa = payee === 'beneficiaryId'
  return renderOperationForm(request, transfersApi.create, {
    variant: payee,
    members: ['fromWalletId', payee, 'amountEuros', 'reference', ...(isSepa ? ['scheme'] : [])],
    labels: LABELS,
    choices: { fromWalletId: wallets, [payee]: payees },
    submit: isSepa ? 'Pay by SEPA' : 'Transfer between wallets',
    done: 'go:console/transfers/{id}',
    ...(isSepa && { tone: 'main' }),
    inDialog: true,
  })
}

interface Payees {
  readonly toWalletId: string | null
  readonly beneficiaryId: string | null
  readonly parts: readonly unknown[] | null
}

function payeeOf({ toWalletId, beneficiaryId, parts }: Payees, request: PageRequest): HtmlContent {
  if (parts) return `${parts.length} wallets`
  const payee = toWalletId ?? beneficiaryId
  return payee ? renderRecordLink(request, payee) : noneText
}

interface Reason {
  readonly code: string
  readonly message: string
}

type Transfer = OperationAnswer<typeof transfersApi.get>

const results: Readonly<Record<string, string>> = {
  match: 'Payee check: the name matches',
  close_match: 'Payee check: the name is similar',
  no_match: 'Payee check: the name does not match',
  not_possible: 'Payee check: not available at this bank',
}

const isOver = ({ status }: Transfer): boolean => ['rejected', 'cancelled', 'returned'].includes(status)

const inWords = ({ code, message }: Reason): Html => html`${renderText(message, 300)} <code>${code}</code>`

function stepsOf(transfer: Transfer): readonly (HistoryStep | false)[] {
  const { kind, payeeCheck, payeeConfirmedAt, recall, reason, submittedAt, completedAt } = transfer
  const isSepa = kind === 'sepa'
  const isOn = !isOver(transfer)
  return [
    { what: 'Created', at: transfer.createdAt },
    payeeCheck !== null && {
      what: results[payeeCheck.result] ?? valueText(payeeCheck.result),
      at: payeeCheck.at,
      ...(payeeCheck.suggestedName && {
        note: html`Name at the bank: ${renderText(payeeCheck.suggestedName, 140)}`,
      }),
    },
    (payeeConfirmedAt !== null || awaitsPayeeConfirmation(transfer)) && {
      what: 'Payee confirmed by a person',
      at: payeeConfirmedAt,
    },
    isSepa && (submittedAt !== null || isOn) && { what: 'Submitted to the bank', at: submittedAt },
    (completedAt !== null || isOn) && {
      what: 'Paid to the payee',
      at: completedAt,
      ...(isOn && reason && { note: inWords(reason) }),
    },
    recall !== null && { what: 'Recall requested', at: recall.at, note: renderText(recall.reason, 300) },
    recall !== null && {
      what: `Recall: ${humanize(recall.status)}`,
      at: recall.answeredAt,
      ...(recall.answer && { note: inWords(recall.answer) }),
    },
    !isOn && {
      what: valueText(transfer.status),
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
  return renderBox(
    'Is this the payee?',
    html`<p>${said}${payeeCheck?.suggestedName && html`: <strong>${renderText(payeeCheck.suggestedName, 140)}</strong>`}. ${until}</p>`,
    renderOperationForm(request, transfersApi.confirmPayee, {
      params: { id },
      members: ['comment'],
      submit: 'Pay anyway',
      tone: 'main',
      confirm: `Pay ${amount} although the payee check failed?`,
    }),
  )
}

export const transfersSection = consoleSection({
  kind: 'Transfer',
  lead: 'Transfers between your wallets, and SEPA transfers to beneficiaries.',
  list: transfersApi.list,
  summary: 'newest',
  guide: 'sepa-files',
  get: transfersApi.get,
  name: ({ amountEuros, reference }) => `${formatPlainEuros(amountEuros)} ${reference ?? ''}`.trim(),
  columns: ['status', { To: payeeOf }, 'fromWalletId', 'reason', 'createdAt'],
  labels: { fromWalletId: 'From', toWalletId: 'To', beneficiaryId: 'To', transactionId: 'Payment' },
  shows: { endToEndId: ({ endToEndId }) => endToEndId !== null && copyableText(endToEndId) },
  hidden: ['reason', 'payeeCheck', 'payeeConfirmedAt', 'recall', 'createdAt', 'submittedAt', 'completedAt'],
  events: transferEventNames,
  empty: 'No transfers yet. Create one here or by API.',
  call: 'agentpay transfers create --from-wallet-id wallet_… --beneficiary-id beneficiary_… --amount-euros 12.50',
  buttons: payForms,
  above: limitsToday,
  note: (transfer, request) =>
    awaitsPayeeConfirmation(transfer) &&
    confirmPayee(transfer, formatPlainEuros(transfer.amountEuros), request),
  actions: [
    {
      operation: transfersApi.cancel,
      when: ({ status }) => status === 'created' || status === 'verifying',
      tone: 'against',
      forRecord: ({ amountEuros }) => ({
        confirm: `Cancel the transfer of ${formatPlainEuros(amountEuros)}? The money stays in the wallet.`,
      }),
    },
    {
      operation: transfersApi.recall,
      when: ({ kind, status, recall }) =>
        kind === 'sepa' && (status === 'submitted' || status === 'completed') && recall === null,
      submit: 'Recall',
      tone: 'against',
      forRecord: ({ amountEuros }) => ({
        confirm: `Recall ${formatPlainEuros(amountEuros)}? The payee’s bank may refuse.`,
      }),
    },
  ],
  boxes: (transfer, request) =>
    renderBox(
      'Steps',
      renderHistorySteps(stepsOf(transfer)),
      transfer.kind === 'sepa' &&
        request.may(transfersApi.pain001) &&
        html`<p><a href="${request.to(`transfers/${transfer.id}/pain001`)}" download>Payment order (pain.001)</a></p>`,
    ),
  below: ({ id, intentId }, request) => renderPostingsFor([id, intentId], request),
})
