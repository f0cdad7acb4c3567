import { limitsApi, transfersApi } from '../../../../commerce/transfers/index.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { type Choices, operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf } from '../../parts/names.ts'
import { euros, none, status, text, usage } from '../../parts/text.ts'

export const transferEventNames = ['payment.updated', 'transfer.*']

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

export function payeeOf({ toWalletId, beneficiaryId, parts }: Payees, request: PageRequest): Content {
  if (parts) return `${parts.length} wallets`
  const payee = toWalletId ?? beneficiaryId
  return payee ? recordLink(request, payee) : none
}
