import { ledgerApi } from '../../../../money/ledger/index.ts'
import { html } from '../../../../web/html.ts'
import { recordLink, referenceLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, facts, table } from '../../parts/table.ts'
import { time, words } from '../../parts/text.ts'

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
