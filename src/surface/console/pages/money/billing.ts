import { acquirerApi, billingApi } from '../../../../money/billing/index.ts'
import { fundApi } from '../../../../money/fundings/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { Page, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { copyable } from '../../parts/links.ts'
import { choicesOf } from '../../parts/names.ts'
import { section } from '../../parts/section.ts'
import { box, facts, table } from '../../parts/table.ts'
import { euros, plainEuros, words } from '../../parts/text.ts'

const methodName = ({ brand, kind, last4 }: { brand: string | null; kind: string; last4: string }): string =>
  `${words(brand ?? kind)} …${last4}`

async function methodsOf(request: PageRequest): Promise<Html> {
  const { data } = await request.ask(billingApi.paymentMethods, { query: { limit: 50 } })
  const list = table(request, 'Payment methods', data, {
    Method: method => methodName(method),
    Holder: 'holder',
    Status: 'status',
    Remove: ({ id, ...method }) =>
      operationForm(request, billingApi.removePaymentMethod, {
        params: { id },
        submit: 'Remove',
        tone: 'against',
        confirm: `Remove ${methodName(method)}? It is not charged any more.`,
      }),
  })
  return box(
    'Payment methods',
    data.length > 0 ? list : html`<p>No payment methods yet.</p>`,
    operationForm(request, billingApi.addPaymentMethod, {
      members: ['token', 'holder'],
      labels: { token: 'Processor token (test mode: tok_visa)' },
      submit: 'Add payment method',
      fold: true,
    }),
  )
}

async function fundForm(request: PageRequest): Promise<Html> {
  if (!request.may(fundApi.create)) return html``
  const [wallets, methods] = await Promise.all([
    choicesOf('wallets', request),
    request.ask(billingApi.paymentMethods, { query: { limit: 50 } }),
  ])
  return operationForm(request, fundApi.create, {
    members: ['walletId', 'amountEuros', 'paymentMethodId'],
    choices: {
      walletId: wallets,
      paymentMethodId: methods.data.map(method => [method.id, methodName(method)] as const),
    },
    labels: { paymentMethodId: 'From (optional in test mode)' },
    submit: 'Fund a wallet',
    fold: true,
  })
}

export const billingPage: Page = async request => {
  const { ask, part, to } = request
  const content = await part({
    id: 'billing',
    events: ['wallet.*', 'funding.*', 'payment_method.*', 'processor.*', 'incoming.*', 'acquirer.paid'],
    make: async () => {
      const [balance, processor, acquirer, methods, fill] = await Promise.all([
        ask(billingApi.balance),
        ask(billingApi.processor),
        ask(acquirerApi.acquirer),
        methodsOf(request),
        fundForm(request),
      ])
      return html`<div class="actions">${fill} <a class="button" href="${to('console/fundings')}">Fundings</a></div>
<div class="boxes">${box(
        'All wallets',
        facts([
          ['Available', euros(balance.availableEuros)],
          ['Held', euros(balance.heldEuros)],
          ['Pending', euros(balance.pendingEuros)],
          ['Unassigned', euros(balance.unassignedEuros)],
          ['Owed', euros(balance.owedEuros)],
          ['Open wallets', balance.wallets],
        ]),
        balance.unassignedEuros > 0 &&
          html`<p>Some incoming credits match no wallet. <a href="${to('console/incoming?status=unmatched')}">Assign them</a>.</p>`,
      )}${box(
        'External balances',
        facts([
          ['At the card processor', euros(processor.balanceEuros)],
          ['Owed by the acquirer', euros(acquirer.owedEuros)],
        ]),
        operationForm(request, billingApi.fundProcessor, {
          members: ['amountEuros', 'fromWalletId'],
          labels: { fromWalletId: 'From wallet (default: your oldest)' },
          submit: 'Transfer to the processor',
          fold: true,
        }),
        operationForm(request, billingApi.withdrawFromProcessor, {
          members: ['amountEuros', 'toWalletId'],
          labels: { toWalletId: 'To wallet (default: your oldest)' },
          submit: 'Withdraw from the processor',
          fold: true,
        }),
      )}</div>${methods}`
    },
  })
  return {
    title: 'Billing',
    content: html`<h1>Billing</h1>
<p class="lead">Your total balance and payment methods.</p>
<p class="record"><a href="${to('billing/balance')}">JSON</a> ${copyable('agentpay billing balance')}</p>
${content}`,
  }
}

export const fundings = section({
  kind: 'Funding',
  lead: 'Funding of wallets, including failed attempts.',
  list: fundApi.list,
  get: fundApi.get,
  name: ({ amountEuros }) => plainEuros(amountEuros),
  columns: ['status', 'reason', 'walletId', 'createdAt'],
  labels: { walletId: 'To wallet', reversedAt: 'Reversed', creditId: 'Incoming credit' },
  hidden: ['nextAction'],
  events: ['funding.*', 'wallet.funded'],
  call: 'agentpay fund create --wallet-id wallet_… --amount-euros 100',
  above: fundForm,
  note: ({ nextAction }) =>
    nextAction && html`<p><a class="button" href="${nextAction.url}">Complete the next step</a></p>`,
})
