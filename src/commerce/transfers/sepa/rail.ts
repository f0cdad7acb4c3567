import type { Mode } from '../../../kernel/contract/actor.ts'
import type { ExternalCallContext } from '../../../kernel/contract/handlers.ts'
import {
  isUnansweredRailCall,
  type PayeeCheck,
  type SepaPayee,
  type SepaPayment,
  type SepaPaymentStatus,
  type SepaRecallStatus,
  type UnansweredRailCall,
} from '../../../ports/sepa-rail.ts'
import { addMs, clock } from '../../../values/clock.ts'
import type { TransferRow } from '../transfer.ts'
import { INSTANT_TIME_LIMIT_MS, type LockedTransfer } from './sepa-transfer.ts'

/** Reserved before the transaction ended and stored until the answer is recorded, so member names must not change. */
export interface SepaRailRequest<T> {
  readonly id: string
  readonly mode: Mode
  readonly asks: T
}

export const transferPayee = ({ payee }: Pick<TransferRow, 'payee'>): SepaPayee => {
  if (!payee) throw new Error('a transfer by SEPA has a payee')
  return { name: payee.name, iban: payee.iban, bic: payee.bic }
}

export function sepaPaymentOrder(
  { transfer, wallet }: Pick<LockedTransfer, 'transfer' | 'wallet'>,
  at: Date,
): SepaPayment {
  const { ownerId, endToEndId, scheme, amountCents, reference, submittedAt, payee } = transfer
  if (!endToEndId || !scheme || !submittedAt || !payee) throw new Error('it has not been submitted')
  const until = scheme === 'sct_inst' ? addMs(submittedAt, INSTANT_TIME_LIMIT_MS) : null
  return {
    ownerId,
    endToEndId,
    scheme,
    amountCents,
    reference,
    submittedAt,
    payerIban: wallet.iban,
    payee: { ...transferPayee(transfer), name: payee.sepaName },
    until,
    at,
  }
}

export const requestPayeeCheck = async (
  request: SepaRailRequest<SepaPayee> | null,
  { systems, requestId }: ExternalCallContext,
): Promise<PayeeCheck | UnansweredRailCall | null> =>
  request && systems.sepaRail(request.mode).verifyPayee(request.asks, { reference: request.id, requestId })

export interface SepaSubmission extends SepaRailRequest<SepaPayment> {
  /** The real time from which on an instant payment is not sent, since it must not arrive after its time limit. */
  readonly byMs: number
}

export async function submitSepaPayment(
  request: SepaSubmission | null,
  { systems, requestId }: ExternalCallContext,
): Promise<SepaRailAnswers | null> {
  if (!request) return null
  const { id, mode, asks, byMs } = request
  const isLate = asks.until !== null && clock.milliseconds() >= byMs
  const status = isLate ? 'late' : await systems.sepaRail(mode).submit(asks, { reference: id, requestId })
  return { status, recall: null }
}

export interface SepaInquiry {
  readonly payment: SepaPayment
  readonly howItStands: boolean
  readonly whetherItComesBack: boolean
  readonly mayBeSent: boolean
}

export interface SepaRailAnswers {
  readonly status: SepaPaymentStatus | UnansweredRailCall | null
  readonly recall: SepaRecallStatus | UnansweredRailCall | null
}

export async function inquireSepaRail(
  request: SepaRailRequest<SepaInquiry> | null,
  context: ExternalCallContext,
): Promise<SepaRailAnswers | null> {
  if (!request) return null
  const { payment, whetherItComesBack } = request.asks
  const status = await askStatus(request, context)
  if (!whetherItComesBack) return { status, recall: null }
  const call = { reference: request.id, requestId: context.requestId }
  // A failed recall inquiry must not lose the status that was received.
  const recall = await context.systems
    .sepaRail(request.mode)
    .recall(payment, call)
    .catch((error: unknown) => {
      if (status === null) throw error
      return 'late' as const
    })
  return { status, recall }
}

/**
 * A payment that the rail does not know was lost on the way, and is submitted again under the same reference.
 * An instant payment is not, since its time limit is over and it cannot have been paid.
 */
async function askStatus(
  { id: reference, mode, asks: { payment, howItStands, mayBeSent } }: SepaRailRequest<SepaInquiry>,
  { systems, requestId }: ExternalCallContext,
): Promise<SepaPaymentStatus | UnansweredRailCall | null> {
  if (!howItStands) return null
  const rail = systems.sepaRail(mode)
  const answer = await rail.statusOf(payment, { reference, requestId })
  const isLost = !isUnansweredRailCall(answer) && answer.status === 'unknown'
  return isLost && mayBeSent ? rail.submit(payment, { reference, requestId }) : answer
}
