import type { Mode } from '../../../kernel/contract/actor.ts'
import type { CallContext } from '../../../kernel/contract/handlers.ts'
import {
  isUnanswered,
  type Payee,
  type PayeeCheck,
  type Payment,
  type PaymentStatus,
  type RecallStatus,
  type Unanswered,
} from '../../../ports/sepa-rail.ts'
import { after, clock } from '../../../values/clock.ts'
import type { TransferRow } from '../transfer.ts'
import { INSTANT_MS, type LockedTransfer } from './sepa-transfer.ts'

/** Reserved before the transaction ended and stored until the answer is recorded, so member names must not change. */
export interface RailRequest<T> {
  readonly id: string
  readonly mode: Mode
  readonly asks: T
}

export const payeeOf = ({ payee }: Pick<TransferRow, 'payee'>): Payee => {
  if (!payee) throw new Error('a transfer by SEPA has a payee')
  return { name: payee.name, iban: payee.iban, bic: payee.bic }
}

export function paymentOf(
  { transfer, wallet }: Pick<LockedTransfer, 'transfer' | 'wallet'>,
  at: Date,
): Payment {
  const { ownerId, endToEndId, scheme, amountCents, reference, submittedAt, payee } = transfer
  if (!endToEndId || !scheme || !submittedAt || !payee) throw new Error('it has not been submitted')
  const until = scheme === 'sct_inst' ? after(submittedAt, INSTANT_MS) : null
  return {
    ownerId,
    endToEndId,
    scheme,
    amountCents,
    reference,
    submittedAt,
    payerIban: wallet.iban,
    payee: { ...payeeOf(transfer), name: payee.sepaName },
    until,
    at,
  }
}

export const requestPayeeCheck = async (
  request: RailRequest<Payee> | null,
  { ports, requestId }: CallContext,
): Promise<PayeeCheck | Unanswered | null> =>
  request && ports.sepaRail(request.mode).verifyPayee(request.asks, { reference: request.id, requestId })

export interface Submission extends RailRequest<Payment> {
  /** The real time from which on an instant payment is not sent, since it must not arrive after its time limit. */
  readonly byMs: number
}

export async function sendPayment(
  request: Submission | null,
  { ports, requestId }: CallContext,
): Promise<Answers | null> {
  if (!request) return null
  const { id, mode, asks, byMs } = request
  const isLate = asks.until !== null && clock.milliseconds() >= byMs
  const status = isLate ? 'late' : await ports.sepaRail(mode).submit(asks, { reference: id, requestId })
  return { status, recall: null }
}

export interface Question {
  readonly payment: Payment
  readonly howItStands: boolean
  readonly whetherItComesBack: boolean
  readonly mayBeSent: boolean
}

export interface Answers {
  readonly status: PaymentStatus | Unanswered | null
  readonly recall: RecallStatus | Unanswered | null
}

export async function askRail(
  request: RailRequest<Question> | null,
  context: CallContext,
): Promise<Answers | null> {
  if (!request) return null
  const { payment, whetherItComesBack } = request.asks
  const status = await askStatus(request, context)
  if (!whetherItComesBack) return { status, recall: null }
  const call = { reference: request.id, requestId: context.requestId }
  // A failed recall inquiry must not lose the status that was received.
  const recall = await context.ports
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
  { id: reference, mode, asks: { payment, howItStands, mayBeSent } }: RailRequest<Question>,
  { ports, requestId }: CallContext,
): Promise<PaymentStatus | Unanswered | null> {
  if (!howItStands) return null
  const rail = ports.sepaRail(mode)
  const answer = await rail.statusOf(payment, { reference, requestId })
  const isLost = !isUnanswered(answer) && answer.status === 'unknown'
  return isLost && mayBeSent ? rail.submit(payment, { reference, requestId }) : answer
}
