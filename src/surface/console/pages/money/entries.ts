import { ledgerApi } from '../../../../money/ledger/index.ts'
import type { ItemOf } from '../../page.ts'
import { recordLink, referenceLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import type { Columns } from '../../parts/table.ts'
import { words } from '../../parts/text.ts'

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
