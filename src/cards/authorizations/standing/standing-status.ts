import type { CardPaymentState } from '../../../money/transactions/index.ts'
import type { AuthorizationStatus } from '../authorization.ts'
import type { AuthorizationRow } from '../authorization-rows.ts'
import type { Standing } from './facts.ts'

/** The status of an authorization by its standing. */
export function statusOf(
  standing: Standing,
  { processorRef, declineReason }: Pick<AuthorizationRow, 'processorRef' | 'declineReason'>,
): AuthorizationStatus {
  const { clearedEuros, refundedEuros, approvedEuros, confirmedEuros, isOver, isReversed } = standing
  if (refundedEuros > 0n && refundedEuros >= clearedEuros) return 'refunded'
  if (clearedEuros > 0n) return isOver || clearedEuros >= approvedEuros ? 'cleared' : 'authorized'
  if (isReversed) return 'reversed'
  if (isOver) return 'expired'
  if (confirmedEuros !== null && (processorRef === null || approvedEuros === 0n)) return 'confirmed'
  return approvedEuros > 0n || declineReason === null ? 'authorized' : 'declined'
}

const ended: Readonly<Partial<Record<string, string>>> = {
  reversed: 'The merchant has given it back.',
  expired: 'The merchant has not collected it in time.',
}

/** How the transaction of an authorization stands; null where no money was ever asked for. */
export function paymentStateOf(
  row: Pick<AuthorizationRow, 'amountEuros' | 'intentId' | 'declineReason' | 'status'>,
  standing: Standing,
): CardPaymentState | null {
  const { clearedEuros, refundedEuros, approvedEuros, confirmedEuros, isOver } = standing
  const common = { intentId: row.intentId, declineReason: null }
  if (clearedEuros > 0n) {
    const isBack = refundedEuros >= clearedEuros
    const isDone = isOver || confirmedEuros !== null || clearedEuros >= approvedEuros
    const status = isDone ? 'completed' : 'settlement'
    return {
      ...common,
      status: isBack ? 'refunded' : status,
      amountEuros: clearedEuros,
      refundedEuros: isBack ? clearedEuros : refundedEuros,
    }
  }
  if (confirmedEuros !== null)
    return {
      ...common,
      status: isOver ? 'refunded' : 'completed',
      amountEuros: confirmedEuros,
      refundedEuros: isOver ? confirmedEuros : 0n,
    }
  // A refund without a payment is a payment in the other direction.
  if (refundedEuros > 0n && approvedEuros === 0n)
    return { ...common, status: 'completed', amountEuros: refundedEuros, refundedEuros: 0n }
  const amountEuros = approvedEuros > 0n ? approvedEuros : row.amountEuros
  if (amountEuros === 0n) return null
  const declineReason = ended[row.status] ?? (approvedEuros > 0n ? null : row.declineReason)
  return {
    ...common,
    amountEuros,
    refundedEuros: 0n,
    declineReason,
    status: declineReason === null ? 'authorization' : 'declined',
  }
}
