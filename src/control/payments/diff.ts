import { type Cents, minOf, NO_CENTS, remainderOf, subtractCents } from '../../values/money.ts'
import { type ApprovalShare, type PaymentState, splitByApproval } from './state.ts'

export interface BookedPaymentAmounts {
  readonly capturedCents: Cents
  readonly clearedCents: Cents
  readonly refundedCents: Cents
}

export const bookedPaymentAmounts = ({
  capturedCents,
  clearedCents,
  refundedCents,
}: PaymentState): BookedPaymentAmounts => ({
  capturedCents,
  clearedCents,
  refundedCents,
})

/** The money that moves between what is booked and the new state. At most one of capture and undo is above zero. */
export interface PaymentDiff {
  readonly captureCents: Cents
  readonly undoCents: Cents
  readonly settleCents: Cents
  readonly refundCents: Cents
  readonly shares: readonly ApprovalShare[]
}

export function diffPaymentAmounts(booked: BookedPaymentAmounts, state: PaymentState): PaymentDiff {
  const [captured, cleared, refunded] = [booked.capturedCents, booked.clearedCents, booked.refundedCents]
  return {
    captureCents: remainderOf(state.capturedCents, captured),
    undoCents: remainderOf(captured, state.capturedCents),
    settleCents: remainderOf(state.clearedCents, cleared),
    refundCents: remainderOf(state.refundedCents, refunded),
    shares: splitByApproval(state),
  }
}

export interface LimitUsageChange {
  /**
   * The number of an increment, or the amount cleared above all approvals (`excess`), or without an approval
   * (`unauthorized`).
   */
  readonly of: number | 'excess' | 'unauthorized'
  readonly amountCents: Cents
  readonly heldCents: Cents
  readonly capturedCents: Cents
  readonly spentCents: Cents
  readonly isUse: boolean
}

export const netSpentCents = ({ capturedCents, refundedCents, creditedCents }: PaymentState): Cents =>
  remainderOf(remainderOf(capturedCents, refundedCents), creditedCents)

/** How a payment counts towards the limits of its subjects. Under an intent, it is not a use of its own. */
export function limitUsageOf(state: PaymentState, hasIntent: boolean): LimitUsageChange[] {
  const { approvals, isSelfInitiated, pendingCents } = state
  const first = approvals.find(({ approvedCents }) => approvedCents > 0n)?.increment
  let [captured, spent] = [state.capturedCents, netSpentCents(state)]
  const usage: LimitUsageChange[] = splitByApproval(state).map(
    ({ increment, approvedCents, capturedCents, heldCents }) => {
      const part = minOf(capturedCents, spent)
      spent = subtractCents(spent, part)
      captured = subtractCents(captured, capturedCents)
      const isFirst = increment === first
      return {
        // A payment that this service began was reserved at its beginning, on that day, so its first approval
        // reserves nothing more.
        of: isSelfInitiated && isFirst ? 'unauthorized' : increment,
        ...{ amountCents: approvedCents, heldCents, capturedCents, spentCents: part },
        isUse: isFirst && !hasIntent,
      }
    },
  )
  const rest = { capturedCents: captured, spentCents: spent }
  const none = { capturedCents: NO_CENTS, spentCents: NO_CENTS }
  const isAuthorized = first !== undefined
  const excess = isAuthorized ? rest : none
  usage.push({
    of: 'excess',
    amountCents: excess.capturedCents,
    heldCents: NO_CENTS,
    isUse: false,
    ...excess,
  })
  if (isSelfInitiated && isAuthorized) return usage
  const unauthorized = isAuthorized ? none : rest
  const amountCents = unauthorized.capturedCents > 0n ? unauthorized.capturedCents : pendingCents
  usage.push({ of: 'unauthorized', amountCents, heldCents: pendingCents, isUse: !hasIntent, ...unauthorized })
  return usage
}

export function refundedPaymentCents(state: PaymentState): Cents {
  const { clearedCents, confirmedCents, refundedCents, isRefundOnly } = state
  if (isRefundOnly) return NO_CENTS
  return minOf(refundedCents, clearedCents > 0n ? clearedCents : (confirmedCents ?? refundedCents))
}

type IntentStep = 'begin' | 'complete' | 'free'

/**
 * An intent is being paid while money is held or its outcome is unknown, is completed by the first capture,
 * and is otherwise free.
 */
export function intentTransition(
  { capturedCents, heldCents, pendingCents }: PaymentState,
  paymentId: string,
  beingPaidBy: string | null,
): IntentStep | undefined {
  if (capturedCents > 0n) return 'complete'
  const isOpen = heldCents > 0n || pendingCents > 0n
  if (isOpen) return beingPaidBy === null ? 'begin' : undefined
  return beingPaidBy === paymentId ? 'free' : undefined
}
