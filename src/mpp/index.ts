export { type AcceptedPaymentMethod, acceptedQuality, parseAcceptPayment } from './accept-payment.ts'
export {
  fromBase64url,
  isJsonObject,
  isUnusableInput,
  type JsonObject,
  toBase64url,
  UnusableInput,
} from './base64url.ts'
export {
  type BoundChallenge,
  computeChallengeId,
  credentialHeaderOf,
  isOwnChallenge,
  type PaymentChallenge,
  parseChallenges,
  type ReadChallenges,
  serializeChallenge,
  toHeaderText,
} from './challenge.ts'
export {
  type CardDetails,
  type CardPayload,
  type ChargeMethod,
  type ChargeRequest,
  chargeMethods,
  decodeChargeRequest,
  encodeChallengeRequest,
  readCardDetails,
  readCardPayload,
} from './charge-request.ts'
export {
  contentDigest,
  credentialDigest,
  isPaymentScheme,
  matchesContentDigest,
  type PaymentCredential,
  parseCredential,
  serializeCredential,
} from './credential.ts'
export { type PaidOperations, type PublishedOffer, publishedOffers, readPaidOperations } from './discovery.ts'
export { type MerchantKey, merchantKeyOf, merchantKeyProblem } from './merchant-key.ts'
export {
  buildProblemDetails,
  type ProblemDetails,
  type ProblemType,
  problemTypeAndTitle,
} from './problem-details.ts'
export {
  isRfc3339Instant,
  type PaymentReceipt,
  parseReceipt,
  paymentReceiptProblem,
  serializeReceipt,
} from './receipt.ts'
export {
  readStripeDetails,
  readStripePayload,
  type StripeDetails,
  type StripePayload,
  stripePayload,
} from './stripe-charge.ts'
