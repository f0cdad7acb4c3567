import type { Context } from '../../../kernel/contract/context.ts'
import type { arrivedEvents } from '../../../money/refunds/index.ts'
import type { Euros } from '../../../values/money.ts'
import type { AuthorizationRow } from '../authorization-rows.ts'
import type { CardBatch } from '../batch.ts'
import type { Facts, Standing } from './facts.ts'
import { refundPlace } from './payment.ts'
import { isRefundAlone } from './standing-status.ts'

/** The type under which refunds name the payment by card that they are of. */
export const REFUND_SOURCE = 'card_authorization'

/** How a payment stood, or stands now. */
interface Known {
  readonly facts: Facts
  readonly standing: Standing
}

/** How much of what has come back is of the payment: no more than was paid. It depends on the facts, not on their order. */
function ofPayment({ facts, standing }: Known): Euros {
  if (isRefundAlone(facts)) return 0n
  const { clearedEuros, confirmedEuros, refundedEuros } = standing
  const paidEuros = clearedEuros > 0n ? clearedEuros : (confirmedEuros ?? refundedEuros)
  return refundedEuros < paidEuros ? refundedEuros : paidEuros
}

/** Records what the network has sent back: it counts for the payment as far as that goes, also where that is known later. */
export function recordRefunds(
  row: AuthorizationRow,
  before: Known,
  standing: Standing,
  transactionId: string,
  batch: CardBatch,
  { emit }: Pick<Context<never, typeof arrivedEvents>, 'emit'>,
): void {
  if (standing.refundedEuros === 0n) return
  const { refunds } = batch
  const source = { type: REFUND_SOURCE, id: row.id }
  const amountEuros = standing.refundedEuros - before.standing.refundedEuros
  const wanted = ofPayment({ facts: row.facts, standing })
  if (amountEuros > 0n) {
    const more = wanted - ofPayment(before)
    const part = more > amountEuros ? amountEuros : more
    const walletId = refundPlace(row, batch)
    const arrival = {
      agentId: row.agentId,
      walletId,
      way: 'card',
      origin: 'network',
      amountEuros,
      source,
    } as const
    refunds.record(transactionId, arrival, part > 0n ? part : 0n, emit)
  }
  refunds.link(source, transactionId, wanted)
}
