import type {
  SepaPayee,
  SepaPayment,
  SepaPaymentStatus,
  SepaRail,
  SepaRailCall,
  UnansweredRailCall,
} from '../../../ports/sepa-rail.ts'
import { addMs, clock } from '../../../values/clock.ts'
import type { TransferRow } from '../transfer.ts'
import { INSTANT_TIME_LIMIT_MS, type LockedTransfer, type TransferStepContext } from './sepa-transfer.ts'

export const transferPayee = ({ payee }: Pick<TransferRow, 'payee'>): SepaPayee => {
  if (!payee) throw new Error('a transfer by SEPA has a payee')
  return { name: payee.name, iban: payee.iban, bic: payee.bic }
}

/** The reference of a transfer is its id, so however often the rail is called, it pays once. */
export const railCall = (
  { id: reference }: Pick<TransferRow, 'id'>,
  { requestId }: TransferStepContext,
): SepaRailCall => ({ reference, requestId })

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

export interface SepaSubmission {
  readonly payment: SepaPayment
  readonly call: SepaRailCall
  /** The real time from which on an instant payment is not sent, since it must not arrive after its time limit. */
  readonly byMs: number
}

export async function submitInTime(
  rail: SepaRail,
  { payment, call, byMs }: SepaSubmission,
): Promise<SepaPaymentStatus | UnansweredRailCall> {
  const isLate = payment.until !== null && clock.milliseconds() >= byMs
  return isLate ? 'late' : rail.submit(payment, call)
}
