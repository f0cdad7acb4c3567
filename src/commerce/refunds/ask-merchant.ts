import { AnswerNow } from '../../kernel/contract/handlers.ts'
import { externalCall } from '../../kernel/contract/operation.ts'
import { refundsApi } from './api.ts'
import { lockRefund } from './lock-refund.ts'
import { askAgainAt, push, pushableOf, pushOf } from './push.ts'
import { notePush } from './push-answer.ts'

const DONE = { done: true }

/** Asks once more where no answer was recorded. The due time moves before the call, so that no two call at once. */
export const askMerchant = externalCall(refundsApi.askMerchant, {
  async reserve({ params }, context) {
    const { now, tenant, sql, ports, refuse, sendAlong } = context
    const locked = await lockRefund(params.id, context)
    if (!locked) return refuse('refund_not_found')
    const { row, refunds } = locked
    if (!row?.askDueAt || row.askDueAt > now || !row.transactionId) return new AnswerNow(DONE)
    const payment = (await pushableOf(sql, tenant, [row.transactionId], ports)).get(row.transactionId)
    const attempts = row.attempts + 1
    if (payment) refunds.tryToAsk(row, attempts, askAgainAt(now, attempts))
    else refunds.endAsking(row, false)
    sendAlong(refunds.write(sql))
    if (!payment) return new AnswerNow(DONE)
    const call = { refundId: row.id, mode: tenant.mode, now: now.toISOString() }
    const asked = { since: row.createdAt.toISOString(), cents: String(row.amountEuros) }
    return pushOf(payment, { ...call, ...asked })
  },

  call: push,

  async record(answer, asked, context) {
    await notePush(answer, asked, context)
    return DONE
  },

  // It is due again: by the same reference the processor asks once.
  recover: async () => DONE,
})
