import { billingApi } from '../../../../money/billing/index.ts'
import { fundApi } from '../../../../money/fundings/index.ts'
import { ledgerApi } from '../../../../money/ledger/index.ts'
import { statementsApi } from '../../../../money/statements/index.ts'
import { walletsApi } from '../../../../money/wallets/index.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { copyable, recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { readNames } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, knownFacts, table } from '../../parts/table.ts'
import { euros, none, text, words } from '../../parts/text.ts'
import { entryColumns } from './ledger.ts'
import { statementColumns } from './statements.ts'

const events = [
  'wallet.*',
  'funding.*',
  'agent.funded',
  'card.funded',
  'transaction.*',
  'transfer.*',
  'incoming.*',
]

async function totals({ ask, may, to }: PageRequest): Promise<Content> {
  if (!may(billingApi.balance)) return false
  const balance = await ask(billingApi.balance)
  return html`<dl class="totals">
<div><dt>Available</dt><dd>${euros(balance.availableEuros)}</dd></div>
<div><dt>Held</dt><dd>${euros(balance.heldEuros)}</dd></div>
<div><dt>On its way in</dt><dd>${euros(balance.pendingEuros)}</dd></div>
<div><dt>Not assigned</dt><dd>${balance.unassignedEuros > 0 ? html`<a href="${to('console/incoming?status=unmatched')}">${euros(balance.unassignedEuros)}</a>` : euros(0)}</dd></div>
<div><dt>Owed</dt><dd>${euros(balance.owedEuros)}</dd></div>
</dl>`
}

export const walletsPage = listPage({
  title: 'Wallets',
  lead: 'Where your money is. Each wallet has a balance, and an IBAN to which money is sent.',
  operation: walletsApi.list,
  filters: ['status', 'kind', 'agentId', 'iban', 'parentWalletId'],
  labels: { iban: 'IBAN', parentWalletId: 'Below wallet' },
  events,
  empty: { words: 'No wallet yet.', command: 'agentpay wallets create --name "Research"' },
  above: async request =>
    html`${await totals(request)}${operationForm(request, walletsApi.create, {
      members: ['name', 'parentWalletId'],
      labels: { parentWalletId: 'Below wallet' },
      submit: 'New wallet',
      done: 'go:console/wallets/{id}',
      fold: true,
    })}`,
  names: ['agents'],
  columns: {
    Wallet: ({ id, name }, request) => recordLink(request, id, text(name, 60)),
    Available: 'availableEuros',
    Held: 'heldEuros',
    State: 'status',
    Of: ({ kind, agentId, cardId }, request) =>
      agentId ? recordLink(request, agentId) : cardId ? recordLink(request, cardId) : words(kind),
    IBAN: ({ iban }) => (iban ? html`<code>${iban}</code>` : none),
  },
})

type Wallet = AnswerOf<typeof walletsApi.get>

/** The newest entries of the wallet's account. */
async function entriesOf({ id }: Wallet, request: PageRequest): Promise<Html> {
  const { ask, may, to } = request
  if (!may(ledgerApi.accounts)) return html``
  const [account] = (await ask(ledgerApi.accounts, { query: { walletId: id, limit: 1 } })).data
  if (!account) return box('Entries', html`<p>No money has moved here yet.</p>`)
  const { data } = await ask(ledgerApi.entries, { params: { id: account.id }, query: { limit: 10 } })
  return box(
    'Entries',
    table(request, 'The newest entries', data, entryColumns),
    html`<p><a href="${to(`console/entries?id=${account.id}`)}">All entries</a> · <a href="${to(`console/accounts/${account.id}`)}">The account in the ledger</a></p>`,
  )
}

async function statementsOf({ id }: Wallet, request: PageRequest): Promise<Html> {
  const { ask, may, to } = request
  if (!may(statementsApi.list)) return html``
  const { data } = await ask(statementsApi.list, { query: { walletId: id, limit: 6 } })
  return box(
    'Statements',
    data.length > 0 && table(request, 'The newest statements', data, statementColumns),
    html`<p><a href="${to(`console/statements?walletId=${id}`)}">All statements</a></p>`,
    operationForm(request, statementsApi.create, {
      given: { walletId: id },
      members: ['period'],
      labels: { period: 'Month (YYYY-MM); this one if left out' },
      submit: 'Draw up a statement',
      done: 'go:console/statements/{id}',
      fold: true,
    }),
  )
}

/** How money is sent to the wallet; a purse, or live mode without an account, has no way. */
async function sepaDetailsOf(
  { id, kind, status: state }: Wallet,
  { ask, may }: PageRequest,
): Promise<Content> {
  if (kind === 'card' || state === 'closed' || !may(billingApi.sepaDetails)) return false
  const details = await ask(billingApi.sepaDetails, { query: { walletId: id } }).catch(() => undefined)
  if (!details) return false
  return box(
    'Send money here',
    knownFacts([
      ['IBAN', copyable(details.iban)],
      ['BIC', text(details.bic)],
      ['Holder', text(details.holder)],
      ['Reference', copyable(details.reference)],
    ]),
  )
}

function actionsOf({ id, name, kind, status: state }: Wallet, request: PageRequest): Content {
  if (state === 'closed' || kind === 'card') return false
  const params = { id }
  const isFrozen = state === 'frozen'
  return html`<div class="actions">${operationForm(request, fundApi.wallet, { params, members: ['amountEuros', 'paymentMethodId'], labels: { paymentMethodId: 'Payment method (may be left out in test mode)' }, submit: 'Fund', fold: true })}
${operationForm(request, walletsApi.update, { params, variant: 'name', members: ['name'], values: { name }, submit: 'Rename', fold: true })}
${
  isFrozen
    ? operationForm(request, walletsApi.update, { params, given: { status: 'active' }, submit: 'Unfreeze' })
    : operationForm(request, walletsApi.update, {
        params,
        given: { status: 'frozen' },
        submit: 'Freeze',
        tone: 'against',
        confirm: `Freeze ${name}? Nothing leaves it until it is unfrozen.`,
      })
}
${kind === 'owner' && operationForm(request, walletsApi.close, { params, submit: 'Close', tone: 'against', confirm: `Close ${name} for good? It must be empty.` })}</div>`
}

export const walletPage = recordPage({
  kind: 'Wallet',
  operation: walletsApi.get,
  events,
  about: ({ agentId, cardId }) => [agentId, cardId],
  async body(wallet, request) {
    const [entries, statements, details] = await Promise.all([
      entriesOf(wallet, request),
      statementsOf(wallet, request),
      sepaDetailsOf(wallet, request),
      readNames(request, 'agents'),
    ])
    const { iban, parentWalletId, agentId, cardId } = wallet
    return html`${actionsOf(wallet, request)}
<div class="boxes">${box(
      'Balance',
      knownFacts([
        ['Available', euros(wallet.availableEuros)],
        ['Held', euros(wallet.heldEuros)],
        ['Kind', words(wallet.kind)],
        ['IBAN', iban ? copyable(iban) : none],
        ['BIC', text(wallet.bic)],
        ['Below', recordLink(request, parentWalletId)],
        ['Agent', recordLink(request, agentId)],
        ['Card', recordLink(request, cardId)],
      ]),
      html`<p><a href="${request.to(`console/transactions?walletId=${wallet.id}`)}">Payments from it</a> · <a href="${request.to(`console/transfers?fromWalletId=${wallet.id}`)}">Transfers from it</a></p>`,
    )}${details}</div>
${entries}${statements}`
  },
})
