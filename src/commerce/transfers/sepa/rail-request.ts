import type { Mode } from '../../../kernel/contract/actor.ts'
import type { ContextOf } from '../../../kernel/contract/operation.ts'
import type { Payee, Payment } from '../../../ports/sepa-rail.ts'
import { after } from '../../../values/clock.ts'
import type { Transfer } from '../transfer.ts'
import { INSTANT_MS, type SepaTransfer } from './sepa-transfer.ts'
import type { stepsApi } from './steps-api.ts'

/** A call of the rail, as reserved before the transaction ended. Stored until the answer is recorded: names stay. */
export interface RailRequest<T> {
  readonly id: string
  readonly mode: Mode
  readonly asks: T
}

export type StepContext = ContextOf<typeof stepsApi.submit>

/** The result of a step that had nothing to do. */
export const NOTHING = { acted: false }

export const payeeOf = ({ payee }: Transfer): Payee => {
  if (!payee) throw new Error('a transfer by SEPA has a payee')
  return { name: payee.name, iban: payee.iban, bic: payee.bic }
}

/** The order of a submitted transfer, as the rail is given it. */
export function paymentOf({ transfer, wallet }: SepaTransfer, at: Date): Payment {
  const { ownerId, endToEndId, scheme, amountEuros, reference, submittedAt, payee } = transfer
  if (!endToEndId || !scheme || !submittedAt || !payee) throw new Error('it has not been submitted')
  const until = scheme === 'sct_inst' ? after(submittedAt, INSTANT_MS) : null
  return {
    ownerId,
    endToEndId,
    scheme,
    amountEuros,
    reference,
    submittedAt,
    payerIban: wallet.iban,
    payee: { ...payeeOf(transfer), name: payee.sepaName },
    until,
    at,
  }
}
