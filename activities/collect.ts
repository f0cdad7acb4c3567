import {
  collectApi,
  collectSteps,
  expirePaymentRequest,
  paymentRequestStatus,
} from '../src/commerce/collect/index.ts'
import {
  recordAcquirerAnswers,
  requestRefundSteps,
  reserveRefundCalls,
  sendRefundCalls,
} from '../src/commerce/refunds/index.ts'
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
      const calls = await transaction(tx => reserveRefundCalls({ requestId: ref.id }, tx))
      if (calls.length > 0)
        await call(
          () => sendRefundCalls(calls, systems),
          (answers, tx) => recordAcquirerAnswers(answers, calls, tx),
        )
      return readPaymentRequest(ref)
    }),
  }
}
