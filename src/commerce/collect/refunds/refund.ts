import { Settled } from '../../../kernel/contract/handlers.ts'
import type { ContextOf, HandlerOf } from '../../../kernel/contract/operation.ts'
import { withMembers } from '../../../kernel/database/entity.ts'
import { bookAll, type HandedOver, noteArrived } from '../../../money/incoming/index.ts'
import { PaymentRequest } from '../request.ts'
import type { RequestRow } from '../request-rows.ts'
import { requestResponse } from '../response.ts'
import type { refundsApi } from './api.ts'
import { beginRefunds } from './begin-refund.ts'
import {
  askAcquirer,
  type CardRefundOutcome,
  type CardRefunds,
  cardRefundOf,
  settleCardRefunds,
} from './card-refunds.ts'
import { isBlocked, openRefund } from './open-refund.ts'
import { RequestRefund } from './request-refund.ts'

type Refunding = ContextOf<typeof refundsApi.refund>

/** What is left to do once the refunds are committed: JSON, as it outlives a crash. */
interface Reservation {
  readonly cards: CardRefunds
  readonly handedOver: readonly HandedOver[]
  readonly refundIds: readonly string[]
}

interface Answer {
  readonly outcomes: readonly CardRefundOutcome[]
  readonly arrived: readonly HandedOver[]
}

/**
 * Holds what goes back, then asks the acquirer and hands over to other owners. A crash in between loses nothing: the
 * process, or the sweep, asks under the same references, and money that was handed over arrives by its own deadline.
 */
export const refund: HandlerOf<typeof refundsApi.refund> = {
  async reserve({ params, body }, context) {
    const { tenant, now, refuse } = context
    const opened = await openRefund(params.id, body.amountEuros, context)
    if (isBlocked(opened)) return refuse(...opened)
    const { refunds, handedOver } = await beginRefunds(opened, body.reason, context)
    const payments = new Map(opened.parts.map(({ payment }) => [payment.id, payment]))
    const cards = refunds.flatMap(refund => {
      const payment = payments.get(refund.paymentId)
      return payment?.way === 'card' ? [cardRefundOf(refund, payment)] : []
    })
    if (cards.length + handedOver.length === 0)
      return new Settled(answerOf(opened.locked.request, refunds, context))
    return {
      cards: { requestId: params.id, mode: tenant.mode, now: now.toISOString(), refunds: cards },
      handedOver,
      refundIds: refunds.map(({ id }) => id),
    }
  },

  async call({ cards, handedOver }: Reservation, outside): Promise<Answer> {
    const arrived = await bookAll(handedOver, outside)
    return { arrived, outcomes: await askAcquirer(cards, outside) }
  },

  async record({ outcomes, arrived }: Answer, reservation: Reservation, context) {
    if (outcomes.length > 0) await settleCardRefunds(reservation.cards, outcomes, context)
    await noteArrived(context.sql, arrived)
    return found(reservation, context)
  },

  recover: found,
}

const answerOf = (
  request: PaymentRequest | RequestRow,
  refunds: readonly RequestRefund[],
  context: Refunding,
) => withMembers(requestResponse(request, context), { refunds: [...refunds] })

/** The request and these refunds as they stand. */
async function found({ cards, refundIds }: Reservation, context: Refunding) {
  const { records } = context
  const [request, refunds] = await Promise.all([
    records.findOneOrFail(PaymentRequest, { id: cards.requestId }),
    records.find(RequestRefund, { id: { $in: refundIds } }, { orderBy: { id: 'asc' } }),
  ])
  return answerOf(request, refunds, context)
}
