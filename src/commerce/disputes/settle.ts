import type { Context } from '../../kernel/contract/context.ts'
import { formatEuros } from '../../values/money.ts'
import { type Dispute, isUnauthorized, isUndecided } from './dispute.ts'
import { type Change, disputeEvent, type disputeEvents } from './events.ts'
import type { LockedDispute } from './lock-dispute.ts'
import { moveMoney } from './money/move-money.ts'
import { type Standing, standingOf } from './money/standing.ts'
import { disputeProcess } from './process.ts'
import { pendingCall, schedule } from './schedule.ts'
import { disputeMachine } from './states.ts'

export type Settling = Pick<
  Context<never, typeof disputeEvents>,
  'sql' | 'now' | 'emit' | 'wake' | 'sendAlong'
>

/** What a change is called, and what was said about it. */
export interface Told {
  readonly change: Change
  readonly reason?: string
}

/**
 * Lets money, status and deadlines follow from what is known by now. It may be called whenever something may have changed: where
 * nothing has, nothing is done.
 */
export function settle(locked: LockedDispute, context: Settling, told?: Told): void {
  const { dispute, transaction, returned, book, creditTo } = locked
  const { sql, now, wake, sendAlong } = context
  const before = { status: dispute.status, credited: dispute.creditedEuros, refunded: dispute.refundedEuros }
  dispute.refundedEuros = refundedSince(locked)
  const standing = standingNow(dispute)
  moveMoney(dispute, standing, creditTo, book)
  sendAlong(book.post(sql))
  end(dispute, standing, now)
  // What is given back for the time being may be taken back: it counts as spent until the dispute has ended.
  returned?.set(dispute.id, isUndecided(dispute) ? 0n : dispute.creditedEuros)
  if (returned) sendAlong(returned.write(sql))
  const counted = isUndecided(dispute) ? leftOf(dispute) : dispute.creditedEuros
  transaction.disputedEuros += counted - dispute.countedEuros
  dispute.countedEuros = counted
  const call = pendingCall(dispute)
  if (call === null) dispute.callDueAt = null
  else if (dispute.callDueAt === null || before.status !== dispute.status) dispute.callDueAt = now
  schedule(dispute)
  announce(dispute, before, told, context)
  wake(disputeProcess, dispute)
}

/** What comes for a refund that was asked for is of the rest of the payment. Facts may be above what is disputed: then nothing is left. */
function refundedSince({ dispute, transaction, askedEuros }: LockedDispute): bigint {
  const since = transaction.refundedEuros - askedEuros - dispute.refundedBeforeEuros
  if (since < 0n) return 0n
  return since < dispute.amountEuros ? since : dispute.amountEuros
}

export const leftOf = ({ amountEuros, refundedEuros }: Dispute): bigint => amountEuros - refundedEuros

/** Whether the platform bears what the network does not pay: until the operator has found that it was authorized. */
export const isCovered = ({ reason, finding }: Pick<Dispute, 'reason' | 'finding'>): boolean =>
  isUnauthorized(reason) && finding === null

const standingNow = (dispute: Dispute): Standing =>
  standingOf({
    words: dispute.words,
    isSubmitted: dispute.submittedAt !== null,
    leftEuros: leftOf(dispute),
    isCovered: isCovered(dispute),
    isCreditDue: dispute.creditedAt !== null,
  })

/** Moves the status; what was waited for is not waited for any more once it has ended. */
function end(dispute: Dispute, { status }: Standing, now: Date): void {
  if (!disputeMachine.move(dispute, status) || isUndecided(dispute)) return
  Object.assign(dispute, {
    resolvedAt: now,
    resolution: resolutionOf(dispute),
    creditDueAt: null,
    evidenceDueAt: null,
    remindAt: null,
  })
}

function resolutionOf(dispute: Dispute): string {
  const kept = formatEuros(dispute.creditedEuros)
  switch (dispute.status) {
    case 'won':
      return leftOf(dispute) === 0n
        ? 'The merchant has refunded all that was disputed.'
        : `The card network has decided for you: ${kept} stay yours.`
    case 'lost':
      return dispute.creditedEuros > 0n
        ? `The card network has decided for the merchant. The payment was not authorized, so ${kept} stay yours.`
        : 'The card network has decided for the merchant.'
    case 'withdrawn':
      return 'It was withdrawn.'
    default:
      return 'Nothing was handed in until the time for evidence was over.'
  }
}

interface Before {
  readonly status: Dispute['status']
  readonly credited: bigint
  readonly refunded: bigint
}

function announce(
  dispute: Dispute,
  before: Before,
  told: Told | undefined,
  { emit }: Pick<Settling, 'emit'>,
): void {
  const data = disputeEvent(dispute)
  const update = (change: Change, reason?: string): void =>
    emit('dispute.updated', { ...data, change, ...(reason === undefined ? {} : { reason }) })
  if (told) update(told.change, told.reason)
  if (dispute.refundedEuros !== before.refunded) update('refunded')
  if (dispute.creditedEuros > before.credited) update('credited')
  if (dispute.creditedEuros < before.credited) update('taken_back')
  if (dispute.status !== before.status && !isUndecided(dispute))
    emit('dispute.resolved', { ...data, reason: dispute.resolution ?? '' })
}
