import { externalCall } from '../../../kernel/contract/operation.ts'
import { after } from '../../../values/clock.ts'
import { lockRequest } from '../payments.ts'
import { paymentsById } from '../request-rows.ts'
import { MOST_PARTS, refundsApi } from './api.ts'
import { askAcquirer, cardRefundOf, settleCardRefunds } from './card-refunds.ts'
import { nextCheckAfter, RequestRefund } from './request-refund.ts'

const DONE = { done: true }

/** Asks the acquirer about what is due. The due time moves before the call, so that no two ask at once. */
export const followRefunds = externalCall(refundsApi.followRefunds, {
  async reserve({ params }, context) {
    const { records, sql, tenant, now, refuse } = context
    const locked = await lockRequest(params.id, context)
    if (!locked) return refuse('request_not_found')
    const due = await records.find(
      RequestRefund,
      { requestId: params.id, status: 'pending', way: 'card', dueAt: { $lte: now } },
      { orderBy: { id: 'asc' }, limit: MOST_PARTS, lock: true },
    )
    const payments = await paymentsById(
      sql,
      tenant,
      due.map(({ paymentId }) => paymentId),
    )
    const refunds = due.flatMap(refund => {
      refund.dueAt = after(now, nextCheckAfter(refund.attempts))
      const payment = payments.get(refund.paymentId)
      return payment ? [cardRefundOf(refund, payment)] : []
    })
    return { requestId: params.id, mode: tenant.mode, now: now.toISOString(), refunds }
  },

  call: askAcquirer,

  async record(outcomes, asked, context) {
    if (outcomes.length > 0) await settleCardRefunds(asked, outcomes, context)
    return DONE
  },

  // Process or sweep asks again once it is due.
  recover: async () => DONE,
})
