export { collectApi, collectSteps } from './api.ts'
export { paymentRequiredContract, paymentRequiredRefusal } from './payment-required/api.ts'
export {
  type PaidArticleSource,
  type PathParams,
  type PaymentRequiredContext,
  paymentRequiredHandler,
  presentedPaymentCredential,
} from './payment-required/endpoint.ts'
export { createChallenge, type PaidArticle } from './payment-required/offer.ts'
export {
  refundIdOf,
  requestRefundingEvents,
  requestRefundRefusals,
  requestRefundSteps,
  requestRefundsApi,
} from './refunds/api.ts'
export {
  beginRequestRefund,
  type CardRefunds,
  type PendingRefundSteps,
  type RequestRefundOutcome,
  recordCardRefunds,
  reserveCardRefunds,
  sendCardRefunds,
} from './refunds/refund.ts'
export { followAcquirerReturns } from './refunds/watch-returns.ts'
export { expirePaymentRequest, paymentRequestStatus } from './steps.ts'
