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
export { expirePaymentRequest, paymentRequestStatus } from './steps.ts'
