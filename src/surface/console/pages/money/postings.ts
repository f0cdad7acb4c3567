import { ledgerApi } from '../../../../money/ledger/index.ts'
import { html } from '../../../../web/html.ts'
import { recordLink, referenceLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, facts, table } from '../../parts/table.ts'
import { euros, time, words } from '../../parts/text.ts'

export const postingsPage = listPage({
  title: 'Postings',
  lead: 'What the ledger has booked, the last one first. The entries of each sum to zero.',
  section: 'postings',
  operation: ledgerApi.transfers,
  filters: ['kind', 'referenceId', 'from', 'to'],
  labels: { referenceId: 'For (the id of a transfer, an intent, …)' },
  events: ['wallet.*', 'transaction.*', 'transfer.*'],
  empty: { words: 'Nothing has been booked yet.', command: 'agentpay ledger transfers' },
  columns: [
    { name: 'Posting', of: ({ id, kind }, request) => recordLink(request, id, words(kind)) },
    { name: 'For', of: ({ reference }, request) => referenceLink(request, reference, words(reference.type)) },
    { name: 'Booked', of: ({ bookedAt }) => time(bookedAt) },
  ],
})

export const postingPage = recordPage({
  section: 'accounts',
  list: 'Ledger',
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
      table(
        [
          { name: 'Account', of: ({ accountId }) => recordLink(request, accountId) },
          { name: 'Amount', isFigure: true, of: ({ amountEuros }) => euros(amountEuros) },
          { name: 'Held', isFigure: true, of: ({ heldEuros }) => euros(heldEuros) },
          { name: 'Balance after', isFigure: true, of: ({ balanceAfterEuros }) => euros(balanceAfterEuros) },
        ],
        entries,
        request,
        'The entries of the posting',
      ),
    )}`
  },
})
