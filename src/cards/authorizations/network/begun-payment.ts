import { addFact, type PaymentFact } from '../../../control/payments/index.ts'
import type { MessageContent } from '../../../ports/card-processor.ts'
import type { AuthorizationRow } from '../authorization-rows.ts'
import type { CardBatch } from '../batch.ts'
import { isUnplaced } from '../blank-authorization.ts'

/**
 * The machine payment whose token a message names. The first authorization under any name of the network is that payment's;
 * another one is a second payment, for which the token is not good. A check of the card asks for no payment.
 */
export function begunPayment(
  content: MessageContent,
  rows: readonly AuthorizationRow[],
): AuthorizationRow | undefined {
  if (!('merchant' in content) || content.merchant.networkTokenId === null) return undefined
  const { networkTokenId } = content.merchant
  const begun = rows.find(row => row.mppCredentialId !== null && row.networkTokenId === networkTokenId)
  if (!begun || (content.kind === 'authorization' && content.amountEuros === 0n)) return undefined
  const isOther = content.authorizationId !== null && begun.processorRef !== null
  return isOther && begun.processorRef !== content.authorizationId ? undefined : begun
}

/**
 * A reversal or an expiry names no token: where it came before the authorization, it made a payment of its own, which is
 * the one that was begun. That one takes over what is known.
 */
export function joined(
  begun: AuthorizationRow,
  known: AuthorizationRow,
  { authorizations, changed }: CardBatch,
): AuthorizationRow {
  if (!isUnplaced(known) || known.transactionId !== null) return known
  const { reversals, expired } = known.facts
  const facts: PaymentFact[] = reversals.map(({ id, amount }) => ({
    type: 'reversed',
    id,
    cents: amount === null ? null : BigInt(amount),
  }))
  if (expired) facts.push({ type: 'expired' })
  begun.facts = facts.reduce(addFact, begun.facts)
  begun.processorRef = known.processorRef
  authorizations.delete(known)
  changed.newAuthorizations.delete(known)
  changed.authorizations.delete(known)
  changed.joined.add(known)
  return begun
}
