import { billingApi } from '../../../../money/billing/index.ts'
import { fundingsApi } from '../../../../money/fundings/index.ts'
import { ledgerApi } from '../../../../money/ledger/index.ts'
import { walletsApi } from '../../../../money/wallets/index.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import type { OperationAnswer, PageRequest } from '../../page.ts'
import { copyableText, renderRecordLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox, renderPresentFacts } from '../../parts/table.ts'
import { renderEuros, renderText, valueText } from '../../parts/text.ts'
import { ledgerEntriesSection } from './ledger.ts'
import { renderStatementsOfWallet } from './statements.ts'

const events = [
  'wallet.*',
  'funding.*',
  'agent.funded',
  'card.funded',
  'transaction.*',
  'transfer.*',
  'incoming.*',
]

async function totals({ ask, may, to }: PageRequest): Promise<HtmlContent> {
  if (!may(billingApi.balance)) return false
  const balance = await ask(billingApi.balance)
  return html`<dl class="totals">
<div><dt>Available</dt><dd>${renderEuros(balance.availableEuros)}</dd></div>
<div><dt>Held</dt><dd>${renderEuros(balance.heldEuros)}</dd></div>
<div><dt>Pending</dt><dd>${renderEuros(balance.pendingEuros)}</dd></div>
<div><dt>Unassigned</dt><dd>${balance.unassignedEuros > 0 ? html`<a href="${to('console/incoming?status=unmatched')}">${renderEuros(balance.unassignedEuros)}</a>` : renderEuros(0)}</dd></div>
<div><dt>Owed</dt><dd>${renderEuros(balance.owedEuros)}</dd></div>
</dl>`
}

type Wallet = OperationAnswer<typeof walletsApi.get>

const isOpen = ({ status, kind }: Wallet): boolean => status !== 'closed' && kind !== 'card'

export const walletsSection = consoleSection({
  kind: 'Wallet',
  lead: 'Your wallets, each with a balance and its own IBAN.',
  list: walletsApi.list,
  summary: 'newest',
  get: walletsApi.get,
  columns: [
    'availableEuros',
    'heldEuros',
    'status',
    {
      Owner: ({ kind, agentId, cardId }, request) =>
        agentId || cardId ? renderRecordLink(request, agentId ?? cardId) : valueText(kind),
    },
    'iban',
  ],
  labels: { parentWalletId: 'Parent wallet' },
  shows: { iban: ({ iban }) => iban && copyableText(iban) },
  events,
  above: totals,
  create: { operation: walletsApi.create, members: ['name', 'parentWalletId'] },
  actions: [
    {
      operation: fundingsApi.wallet,
      when: isOpen,
      tone: 'main',
      members: ['amountEuros', 'paymentMethodId'],
      labels: { paymentMethodId: 'Payment method (optional in test mode)' },
    },
    {
      operation: walletsApi.update,
      when: isOpen,
      variant: 'name',
      members: ['name'],
      submit: 'Rename',
      inMenu: true,
    },
    {
      operation: walletsApi.update,
      when: wallet => isOpen(wallet) && wallet.status === 'frozen',
      given: { status: 'active' },
      members: [],
      submit: 'Unfreeze',
    },
    {
      operation: walletsApi.update,
      when: wallet => isOpen(wallet) && wallet.status !== 'frozen',
      given: { status: 'frozen' },
      members: [],
      submit: 'Freeze',
      tone: 'against',
      forRecord: ({ name }) => ({ confirm: `Freeze ${name}? No money can leave it until you unfreeze it.` }),
    },
    {
      operation: walletsApi.close,
      submit: 'Close',
      inMenu: true,
      when: wallet => isOpen(wallet) && wallet.kind === 'owner',
      tone: 'against',
      forRecord: ({ name }) => ({ confirm: `Close ${name}? It must be empty. This cannot be undone.` }),
    },
  ],
  boxes: sepaDetailsOf,
  async below({ id }, request) {
    const [moved, papers] = await Promise.all([entriesOf(id, request), renderStatementsOfWallet(id, request)])
    const { to } = request
    return html`<p><a href="${to(`console/transactions?walletId=${id}`)}">Payments</a> · <a href="${to(`console/transfers?fromWalletId=${id}`)}">Transfers</a></p>
${moved}${papers}`
  },
})

async function entriesOf(walletId: string, request: PageRequest): Promise<Html> {
  const { ask, may, to } = request
  if (!may(ledgerApi.accounts)) return html``
  const [account] = (await ask(ledgerApi.accounts, { query: { walletId, limit: 1 } })).data
  if (!account) return renderBox('Entries', html`<p>No entries yet.</p>`)
  const { id } = account
  return html`${await ledgerEntriesSection.related({ title: 'Entries', params: { id } }, request)}
<p><a href="${to(`console/entries?id=${id}`)}">All entries</a> · <a href="${to(`console/accounts/${id}`)}">View in ledger</a></p>`
}

/** Bank details for funding the wallet. Purses, and live wallets without a bank account, have none. */
async function sepaDetailsOf(wallet: Wallet, { ask, may }: PageRequest): Promise<HtmlContent> {
  if (!isOpen(wallet) || !may(billingApi.sepaDetails)) return false
  const details = await ask(billingApi.sepaDetails, { query: { walletId: wallet.id } }).catch(() => undefined)
  if (!details) return false
  return renderBox(
    'Bank details',
    renderPresentFacts([
      ['IBAN', copyableText(details.iban)],
      ['BIC', renderText(details.bic)],
      ['Holder', renderText(details.holder)],
      ['Reference', copyableText(details.reference)],
    ]),
  )
}
