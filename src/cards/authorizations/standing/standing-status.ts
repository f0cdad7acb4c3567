import type { CardPaymentState } from '../../../money/transactions/index.ts'
import type { AuthorizationStatus } from '../authorization.ts'
import type { AuthorizationRow } from '../authorization-rows.ts'
import type { Facts, Standing } from './facts.ts'

/** The status of an authorization by its standing. */
export function statusOf(
  standing: Standing,
  { processorRef, declineReason }: Pick<AuthorizationRow, 'processorRef' | 'declineReason'>,
): AuthorizationStatus {
  const { clearedEuros, refundedEuros, approvedEuros, confirmedEuros, isOver, isReversed } = standing
  if (refundedEuros > 0n && refundedEuros >= clearedEuros) return 'refunded'
  if (clearedEuros > 0n) return isOver || clearedEuros >= approvedEuros ? 'cleared' : 'authorized'
  if (isReversed) return 'reversed'
  if (standing.isNotPaid) return declineReason === null ? 'void' : 'declined'
  if (isOver) return 'expired'
  if (standing.pendingEuros > 0n) return 'pending'
  if (confirmedEuros !== null && (processorRef === null || approvedEuros === 0n)) return 'confirmed'
  return approvedEuros > 0n || declineReason === null ? 'authorized' : 'declined'
}

const ended: Readonly<Partial<Record<string, string>>> = {
  reversed: 'The merchant has given it back.',
  expired: 'The merchant has not collected it in time.',
  void: 'The machine payment has come to nothing.',
}

/** The processor's word about its answers wins over ours. */
export function declineReasonOf(
  { facts: { outcome }, declineReason }: Pick<AuthorizationRow, 'facts' | 'declineReason'>,
  { approvedEuros }: Standing,
): string | null {
  if (outcome.length === 0) return declineReason
  if (approvedEuros > 0n || outcome.some(({ approved }) => approved)) return null
  return declineReason ?? 'The card processor has declined it.'
}

/** A refund of which no payment is known is a payment in the other direction. */
export const isRefundAlone = ({ refunds, asks, clearings, outcome, confirmed, begun }: Facts): boolean =>
  refunds.length > 0 &&
  asks.length + clearings.length + outcome.length === 0 &&
  confirmed === null &&
  begun === undefined

const paidTypeOf = ({ begun }: Facts) => (begun === undefined ? ('card' as const) : ('mpp' as const))

/** A machine payment of which nobody has ever said that it was paid has no transaction. */
const isUnheardOf = ({
  status,
  transactionId,
}: Pick<AuthorizationRow, 'status' | 'transactionId'>): boolean =>
  transactionId === null && (status === 'pending' || status === 'void')

/** How the transaction of an authorization stands; null where no money was ever asked for. */
export function paymentStateOf(
  row: Pick<
    AuthorizationRow,
    'amountEuros' | 'intentId' | 'declineReason' | 'status' | 'facts' | 'transactionId'
  >,
  standing: Standing,
): CardPaymentState | null {
  if (isUnheardOf(row)) return null
  const { clearedEuros, refundedEuros, approvedEuros, confirmedEuros, isOver } = standing
  const isAlone = isRefundAlone(row.facts)
  const type: CardPaymentState['type'] = isAlone ? 'refund' : paidTypeOf(row.facts)
  const common = { type, intentId: row.intentId, declineReason: null } as const
  if (clearedEuros > 0n) {
    const isBack = refundedEuros >= clearedEuros
    const isDone = isOver || confirmedEuros !== null || clearedEuros >= approvedEuros || refundedEuros > 0n
    const status = isDone ? 'completed' : 'settlement'
    return {
      ...common,
      status: isBack ? 'refunded' : status,
      amountEuros: clearedEuros,
      refundedEuros: isBack ? clearedEuros : refundedEuros,
    }
  }
  if (confirmedEuros !== null) {
    const isBack = isOver || refundedEuros >= confirmedEuros
    return {
      ...common,
      status: isBack ? 'refunded' : 'completed',
      amountEuros: confirmedEuros,
      refundedEuros: isBack ? confirmedEuros : refundedEuros,
    }
  }
  // What it pays back has not been cleared yet.
  if (refundedEuros > 0n)
    return {
      ...common,
      status: isAlone ? 'completed' : 'refunded',
      amountEuros: refundedEuros,
      refundedEuros: isAlone ? 0n : refundedEuros,
    }
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
