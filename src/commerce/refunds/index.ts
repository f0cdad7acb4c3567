export { recordChargeReturns } from './acquirer-returns.ts'
export {
  refundSteps,
  refundsApi,
  requestRefundingEvents,
  requestRefundResponse,
  requestRefundSteps,
  requestRefundsApi,
} from './api.ts'
export {
  recordAcquirerAnswers,
  recordMerchantAnswers,
  reserveRefundCalls,
  sendRefundCalls,
} from './ask.ts'
export { requestRefundReactions } from './locked-refunds.ts'
export { refundPaymentRequest } from './request-refund.ts'
export { expireRefund, refundStatus } from './steps.ts'
export { followAcquirerReturns } from './watch-returns.ts'
