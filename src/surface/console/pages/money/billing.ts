import { acquirerApi, billingApi } from '../../../../money/billing/index.ts'
import { fundingsApi } from '../../../../money/fundings/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ConsolePage, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { copyableText } from '../../parts/links.ts'
import { recordChoices } from '../../parts/names.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox, renderFacts, renderTable } from '../../parts/table.ts'
import { formatPlainEuros, humanize, renderEuros } from '../../parts/text.ts'

const methodName = ({ brand, kind, last4 }: { brand: string | null; kind: string; last4: string }): string =>
  `${humanize(brand ?? kind)} …${last4}`

async function methodsOf(request: PageRequest): Promise<Html> {
  const { data } = await request.ask(billingApi.paymentMethods, { query: { limit: 50 } })
  // The processor's page leads back with the token.
  const { token } = request.query
  const list = renderTable(request, 'Payment methods', data, {
    Method: method => methodName(method),
    Holder: 'holder',
    Status: 'status',
    Remove: ({ id, ...method }) =>
      renderOperationForm(request, billingApi.removePaymentMethod, {
        params: { id },
        submit: 'Remove',
        tone: 'against',
        confirm: `Remove ${methodName(method)}? It is not charged any more.`,
      }),
  })
  return renderBox(
    'Payment methods',
    data.length > 0 ? list : html`<p>No payment methods yet.</p>`,
    html`<div class="actions">${renderOperationForm(request, billingApi.setUpPaymentMethod, {
      secrets: ['url'],
      submit: 'Enter a card or bank account',
    })}${renderOperationForm(request, billingApi.addPaymentMethod, {
      members: ['token', 'holder'],
      labels: { token: 'Token of the processor (test mode: tok_visa)' },
      values: { token },
      done: 'go:console/billing',
      submit: 'Add payment method',
      inDialog: token === undefined,
    })}</div>`,
  )
}

async function fundForm(request: PageRequest): Promise<Html> {
  if (!request.may(fundingsApi.create)) return html``
  const [wallets, methods] = await Promise.all([
    recordChoices('wallets', request),
    request.ask(billingApi.paymentMethods, { query: { limit: 50 } }),
  ])
  return renderOperationForm(request, fundingsApi.create, {
    members: ['walletId', 'amountEuros', 'paymentMethodId'],
    choices: {
      walletId: wallets,
      paymentMethodId: methods.data.map(method => [method.id, methodName(method)] as const),
    },
    labels: { paymentMethodId: 'From (optional in test mode)' },
    submit: 'Fund a wallet',
    tone: 'main',
    inDialog: true,
  })
}

export const billingPage: ConsolePage = async request => {
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
<div class="boxes">${renderBox(
        'All wallets',
        renderFacts([
          ['Available', renderEuros(balance.availableEuros)],
          ['Held', renderEuros(balance.heldEuros)],
          ['Pending', renderEuros(balance.pendingEuros)],
          ['Unassigned', renderEuros(balance.unassignedEuros)],
          ['Owed', renderEuros(balance.owedEuros)],
          ['Open wallets', balance.wallets],
        ]),
        balance.unassignedEuros > 0 &&
          html`<p>Some incoming credits match no wallet. <a href="${to('console/incoming?status=unmatched')}">Assign them</a>.</p>`,
      )}${renderBox(
        'External balances',
        renderFacts([
          ['At the card processor', renderEuros(processor.balanceEuros)],
          ['Owed by the acquirer', renderEuros(acquirer.owedEuros)],
        ]),
        html`<div class="actions">${renderOperationForm(request, billingApi.fundProcessor, {
          members: ['amountEuros', 'fromWalletId'],
          labels: { fromWalletId: 'From wallet (default: your oldest)' },
          submit: 'Transfer to the processor',
          inDialog: true,
        })}${renderOperationForm(request, billingApi.withdrawFromProcessor, {
          members: ['amountEuros', 'toWalletId'],
          labels: { toWalletId: 'To wallet (default: your oldest)' },
          submit: 'Withdraw from the processor',
          inDialog: true,
        })}</div>`,
      )}</div>${methods}`
    },
  })
  return {
    title: 'Add money',
    content: html`<h1>Add money</h1>
<p class="lead">Your total balance and payment methods.</p>
<p class="record"><a href="${to('billing/balance')}">JSON</a> ${copyableText('agentpay billing balance')}</p>
${content}`,
  }
}

export const fundingsSection = consoleSection({
  kind: 'Funding',
  lead: 'Funding of wallets, including failed attempts.',
  list: fundingsApi.list,
  get: fundingsApi.get,
  name: ({ amountEuros }) => formatPlainEuros(amountEuros),
  columns: ['status', 'reason', 'walletId', 'createdAt'],
  labels: { walletId: 'To wallet', reversedAt: 'Reversed', creditId: 'Incoming credit' },
  hidden: ['nextAction'],
  events: ['funding.*', 'wallet.funded'],
  call: 'agentpay fund create --wallet-id wallet_… --amount-euros 100',
  buttons: fundForm,
  note: ({ nextAction }) =>
    nextAction && html`<p><a class="button" href="${nextAction.url}">Complete the next step</a></p>`,
})
