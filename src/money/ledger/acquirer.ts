import type { Euros } from '../../values/money.ts'
import type { AccountKind } from './account.ts'
import type { AccountKey, Book, Cause } from './book.ts'

/** The accounts, beside the wallet, of what an acquirer charges, pays and gives back. */
export const ACQUIRER_ACCOUNTS = [
  'bank',
  'advance',
  'clearing_acquirer',
] as const satisfies readonly AccountKind[]

type Collecting = 'collect' | 'collect_unmatched' | 'collect_settle' | 'collect_refund'

interface Collected {
  readonly from: AccountKey
  readonly to: AccountKey
  readonly amountEuros: Euros
  readonly cause: Cause
}

/** What the acquirer has yet to pay; nothing where it has paid more than was left after refunds. */
function owedByAcquirer(book: Book): Euros {
  const owed = book.available('clearing_acquirer')
  return owed > 0n ? owed : 0n
}

/**
 * Posts what an acquirer has charged, paid or given back. The owner has the money at once and the bank later: until then
 * the platform advances it, so that the bank covers whatever leaves the wallets meanwhile.
 */
export function postCollected(
  kind: Collecting,
  { from, to, amountEuros, cause }: Collected,
  book: Book,
): void {
  const before = owedByAcquirer(book)
  book.move(kind, from, to, amountEuros, cause)
  const change = owedByAcquirer(book) - before
  if (change > 0n) book.move('advance', 'bank', 'advance', change, cause)
  if (change < 0n) book.move('advance_return', 'advance', 'bank', -change, cause)
}
