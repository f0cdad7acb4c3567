import { excerpt } from '../../values/schemas.ts'
import type { Transfer } from './transfer.ts'

type Told = Pick<
  Transfer,
  'id' | 'fromWalletId' | 'toWalletId' | 'beneficiaryId' | 'status' | 'amountEuros'
> & { readonly reason?: Transfer['reason'] }

/** What the world is told of a transfer, with the words that were said about it. */
export function transferEvent(
  { id, fromWalletId, toWalletId, beneficiaryId, status, amountEuros, reason }: Told,
  words = reason?.message ?? null,
) {
  const about = { transferId: id, fromWalletId, toWalletId, beneficiaryId, status, amountEuros }
  return words ? { ...about, reason: excerpt(words) } : about
}
