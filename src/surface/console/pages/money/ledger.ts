import { Refused } from '../../../../kernel/contract/problem.ts'
import { ledgerApi } from '../../../../money/ledger/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { recordLink, referenceLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { readNames } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, facts, table } from '../../parts/table.ts'
import { euros, time, words } from '../../parts/text.ts'

type Entry = ItemOf<typeof ledgerApi.entries>

/** An account's entries: what moved, for what, and what stood afterwards. */
export const entryColumns: Columns<Entry> = {
  Entry: ({ postingId, kind }, request) => recordLink(request, postingId, words(kind)),
  For: ({ reference }, request) => referenceLink(request, reference, words(reference.type)),
  Amount: 'amountEuros',
  Held: 'heldEuros',
  'Balance after': 'balanceAfterEuros',
  Booked: 'bookedAt',
}

/** The entries of the account that the address names. */
export const entriesPage = listPage({
  title: 'Entries',
  lead: 'The last one first. Each carries what stood after it.',
  operation: ledgerApi.entries,
  filters: ['from', 'to'],
  events: ['wallet.*', 'transaction.*', 'transfer.*'],
  empty: { words: 'No money has moved on this account yet.' },
  columns: entryColumns,
})

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

export const postingsPage = listPage({
  title: 'Postings',
  lead: 'What the ledger has booked, the last one first. The entries of each sum to zero.',
  operation: ledgerApi.transfers,
  filters: ['kind', 'referenceId', 'from', 'to'],
  labels: { referenceId: 'For (the id of a transfer, an intent, …)' },
  events: ['wallet.*', 'transaction.*', 'transfer.*'],
  empty: { words: 'Nothing has been booked yet.', command: 'agentpay ledger transfers' },
  columns: {
    Posting: ({ id, kind }, request) => recordLink(request, id, words(kind)),
    For: ({ reference }, request) => referenceLink(request, reference, words(reference.type)),
    Booked: 'bookedAt',
  },
})

export const postingPage = recordPage({
  section: { name: 'accounts', title: 'Ledger' },
  kind: 'Posting',
  operation: ledgerApi.transfer,
  command: 'ledger transfer',
  events: [],
  name: ({ kind }) => words(kind),
  title: ({ kind }) => `Posting: ${words(kind)}`,
  body(posting, request) {
    const { reference, entries } = posting
    return html`${box(
      'Posting',
      facts([
        [
          'For',
          referenceLink(request, reference, html`${words(reference.type)} <code>${reference.id}</code>`),
        ],
        ['Booked', time(posting.bookedAt)],
        ['Value date', posting.valueDate],
      ]),
    )}${box(
      'Its entries sum to zero',
      table(request, 'The entries of the posting', entries, {
        Account: ({ accountId }) => recordLink(request, accountId),
        Amount: 'amountEuros',
        Held: 'heldEuros',
        'Balance after': 'balanceAfterEuros',
      }),
    )}`
  },
})
