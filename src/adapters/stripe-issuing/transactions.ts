import type { CardFact } from '../../ports/card-processor.ts'
import { type Moved, merchantOf } from './event.ts'

interface Link {
  readonly authorizationId: string | null
  readonly final: boolean
}

/** Money that left, told as a positive amount. */
export const clearingOf = (transaction: Moved, { authorizationId, final }: Link): CardFact => ({
  kind: 'clearing',
  clearingId: transaction.id,
  authorizationId,
  amountEuros: -transaction.amount,
  final,
  merchant: merchantOf(transaction),
})

/**
 * The sign says which way the money went: a reversed refund is one of type `refund` that takes money again. Whether a
 * clearing is the last of its authorization only the authorization knows, and says when it closes.
 */
export function factOf(transaction: Moved, authorizationId: string | null): CardFact | null {
  const { id, amount } = transaction
  if (amount < 0n) return clearingOf(transaction, { authorizationId, final: false })
  if (amount === 0n) return null
  return {
    kind: 'refund',
    refundId: id,
    authorizationId,
    amountEuros: amount,
    merchant: merchantOf(transaction),
  }
}
