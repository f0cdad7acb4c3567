export { collectApi, settleApi } from './api.ts'
export { type Params, type PayContext, type Payee, presentedIn } from './payment-required/answers.ts'
export { paidEndpoint } from './payment-required/endpoint.ts'
export { asking, paidContract } from './payment-required/endpoint-contract.ts'
export type { Article } from './payment-required/offer.ts'
export { challengeFor } from './payment-required/offer.ts'
export {
  refundIdOf,
  refundingEvents,
  refundRefusals,
  refundsApi as collectRefundsApi,
} from './refunds/api.ts'
export {
  beginRequestRefund,
  carryOutRefund,
  type OpenSteps,
  recordRefund,
  type StepAnswers,
} from './refunds/refund.ts'
