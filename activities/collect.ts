import {
  collectApi,
  collectSteps,
  expirePaymentRequest,
  paymentRequestStatus,
  recordCardRefunds,
  requestRefundSteps,
  reserveCardRefunds,
  sendCardRefunds,
} from '../src/commerce/collect/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type CollectActivities = ReturnType<typeof collectActivities>

export const collectActivities = ({ systems, read, decide, transaction, outside }: ActivityTools) => {
  const readPaymentRequest = (ref: RecordRef) => read(ref, context => paymentRequestStatus(ref.id, context))
  return {
    readPaymentRequest,

    answerPaymentRequest: decide({ cancel: { operation: collectApi.cancel } }),

    async expirePaymentRequest(ref: RecordRef) {
      await transaction(ref, collectSteps.expire, tx => expirePaymentRequest(ref.id, tx))
      return readPaymentRequest(ref)
    },

    /**
     * Asks the acquirer for each refund that is due, under the reference of the refund: it refunds once, however often it is asked.
     * Until it says how the refund has ended, the money stays held.
     */
    followRefunds: outside(requestRefundSteps.follow, async (ref, { transaction, call }) => {
      const due = await transaction(tx => reserveCardRefunds(ref.id, tx))
      if (due)
        await call(
          () => sendCardRefunds(due, systems.acquirer(ref.mode)),
          (outcomes, tx) => recordCardRefunds(outcomes, due, tx),
        )
      return readPaymentRequest(ref)
    }),
  }
}
