import { Refused } from '../../../../kernel/contract/problem.ts'
import { ledgerApi } from '../../../../money/ledger/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { readNames } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, facts, table } from '../../parts/table.ts'
import { euros, words } from '../../parts/text.ts'
import { entryColumns } from './entries.ts'

/** The proof of the ledger in words; it is made where the address asks for it, as it reads every entry. */
async function proof(request: PageRequest): Promise<Html> {
  const { query, part } = request
  const result = await part({
    id: 'proof',
    events: [],
    make: () => (query.prove === undefined ? html`` : proofInWords(request)),
  })
  return html`<form method="get" data-part="proof"><input type="hidden" name="prove" value="now"><button type="submit" class="main">Prove the ledger</button></form>
${result}`
}

async function proofInWords({ ask }: PageRequest): Promise<Html> {
  try {
    const { ok, accounts, entries, sums, problems } = await ask(ledgerApi.verify)
    const counted = `${entries.toLocaleString('en')} entries on ${accounts.toLocaleString('en')} accounts were read`
    const sum = sums.map(({ sumEuros }) => euros(sumEuros))
    if (ok)
      return html`<p class="proof good" role="status"><strong>The ledger is in order.</strong> ${counted}: each account’s balance is the sum of its entries, none is missing, what is held is the sum of what is open, and all together sum to ${sum}.</p>`
    return html`<div class="proof bad" role="alert"><p><strong>The ledger is not in order.</strong> ${counted}; all together sum to ${sum}. Stop payments, and tell the operator.</p>
<ul>${problems.map(problem => html`<li>${problem}</li>`)}</ul></div>`
  } catch (error) {
    if (error instanceof Refused) return html`<p class="refusal" role="alert">${error.message}</p>`
    throw error
  }
}

export const accountsPage = listPage({
  title: 'Ledger',
  lead: 'Double entry: whatever moves leaves one account and enters another, and all of them sum to zero.',
  operation: ledgerApi.accounts,
  filters: ['kind', 'walletId'],
  ignored: ['prove'],
  events: ['wallet.*'],
  empty: { words: 'No account yet: the first money opens one.', command: 'agentpay fund --help' },
  above: async request => (request.may(ledgerApi.verify) ? await proof(request) : false),
  names: ['wallets'],
  columns: {
    Account: ({ id, kind }, request) => recordLink(request, id, words(kind)),
    Wallet: 'walletId',
    Posted: 'postedEuros',
    Held: 'heldEuros',
    Entries: { figure: 'version' },
  },
})

export const accountPage = recordPage({
  kind: 'Account of the ledger',
  operation: ledgerApi.account,
  command: 'ledger account',
  events: ['wallet.*', 'transaction.*', 'transfer.*'],
  about: ({ walletId }) => [walletId],
  name: ({ kind }) => words(kind),
  title: ({ kind }) => `Account: ${words(kind)}`,
  async body(account, request) {
    const { ask, to } = request
    const [{ data }] = await Promise.all([
      ask(ledgerApi.entries, { params: { id: account.id }, query: { limit: 20 } }),
      readNames(request, 'wallets'),
    ])
    return html`${box(
      'Balance',
      facts([
        ['Posted', euros(account.postedEuros)],
        ['Held', euros(account.heldEuros)],
        ['Available', euros(account.availableEuros)],
        ['Usual side', account.normal],
        ['Wallet', recordLink(request, account.walletId)],
        ['Entries', account.version],
      ]),
    )}${box(
      'Entries',
      table(request, 'The newest entries', data, entryColumns),
      html`<p><a href="${to(`console/entries?id=${account.id}`)}">All entries</a></p>`,
    )}`
  },
})
