export { collectApi } from './api.ts'
export { paidContract, paymentRequired } from './payment-required/api.ts'
export {
  type Params,
  type PayContext,
  type Payee,
  paidEndpoint,
  presentedIn,
} from './payment-required/endpoint.ts'
export { type Article, challengeFor } from './payment-required/offer.ts'
export {
  refundIdOf,
  refundingEvents,
  refundRefusals,
  refundsApi as collectRefundsApi,
} from './refunds/api.ts'
export {
  askAcquirer,
  beginRequestRefund,
  type CardRefunds,
  dueCardRefunds,
  type PendingSteps,
  type RequestRefundOutcome,
  recordCardRefunds,
} from './refunds/refund.ts'
