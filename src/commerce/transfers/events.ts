import { excerpt } from '../../values/schemas.ts'
import type { Transfer } from './transfer.ts'

type EventSource = Pick<
  Transfer,
  'id' | 'fromWalletId' | 'toWalletId' | 'beneficiaryId' | 'status' | 'amountEuros'
> & { readonly reason?: Transfer['reason'] }

/** The data of a transfer's event; `comment` is a person's, and else the reason that the transfer has. */
export function transferEvent(
  { id, fromWalletId, toWalletId, beneficiaryId, status, amountEuros, reason }: EventSource,
  comment = reason?.message ?? null,
) {
  const data = { transferId: id, fromWalletId, toWalletId, beneficiaryId, status, amountEuros }
  return comment ? { ...data, reason: excerpt(comment) } : data
}
