import {
  expireRefund,
  recordMerchantAnswers,
  refundStatus,
  refundSteps,
  refundsApi,
  reserveRefundCalls,
  sendRefundCalls,
} from '../src/commerce/refunds/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type RefundActivities = ReturnType<typeof refundActivities>

export const refundActivities = ({ systems, read, decide, transaction, outside }: ActivityTools) => {
  const readRefund = (ref: RecordRef) => read(ref, context => refundStatus(ref.id, context))
  return {
    readRefund,

    answerRefund: decide({ cancel: { operation: refundsApi.cancel, body: () => ({}) } }),

    /** Each repetition has the same reference, so it learns the outcome of a lost answer. A declined refund fails. */
    askMerchantForRefund: outside(refundSteps.ask, async (ref, { transaction, call }) => {
      const calls = await transaction(tx => reserveRefundCalls({ id: ref.id, requestId: null }, tx))
      if (calls.length > 0) await call(() => sendRefundCalls(calls, systems), recordMerchantAnswers)
      return readRefund(ref)
    }),

    /** The payment can be disputed then. Money that comes later is still booked. */
    async giveUpRefund(ref: RecordRef) {
      await transaction(ref, refundSteps.expire, tx => expireRefund(ref.id, tx))
      return readRefund(ref)
    },
  }
}
