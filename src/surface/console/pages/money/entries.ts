import { ledgerApi } from '../../../../money/ledger/index.ts'
import { recordLink, referenceLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import type { Column } from '../../parts/table.ts'
import { euros, time, words } from '../../parts/text.ts'

interface Entry {
  readonly postingId: string
  readonly kind: string
  readonly reference: { readonly type: string; readonly id: string }
  readonly amountEuros: number
  readonly heldEuros: number
  readonly balanceAfterEuros: number
  readonly bookedAt: string
}

/** An account's entries: what moved, for what, and what stood afterwards. */
export const entryColumns: readonly Column<Entry>[] = [
  { name: 'Entry', of: ({ postingId, kind }, request) => recordLink(request, postingId, words(kind)) },
  { name: 'For', of: ({ reference }, request) => referenceLink(request, reference, words(reference.type)) },
  { name: 'Amount', isFigure: true, of: ({ amountEuros }) => euros(amountEuros) },
  { name: 'Held', isFigure: true, of: ({ heldEuros }) => euros(heldEuros) },
  { name: 'Balance after', isFigure: true, of: ({ balanceAfterEuros }) => euros(balanceAfterEuros) },
  { name: 'Booked', of: ({ bookedAt }) => time(bookedAt) },
]

/** The entries of the account that the address names. */
export const entriesPage = listPage({
  title: 'Entries',
  lead: 'The last one first. Each carries what stood after it.',
  section: 'entries',
  operation: ledgerApi.entries,
  filters: ['from', 'to'],
  events: ['wallet.*', 'transaction.*', 'transfer.*'],
  empty: { words: 'No money has moved on this account yet.' },
  columns: entryColumns,
})
