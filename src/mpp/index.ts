export { type Acceptance, parseAcceptPayment, qualityOf } from './accept-payment.ts'
export { fromBase64url, isObject, isUnusable, type JsonObject, toBase64url, Unusable } from './base64url.ts'
export {
  type Challenge,
  challengeId,
  credentialHeaderOf,
  headerText,
  isOwnChallenge,
  type Offer,
  parseChallenges,
  type ReadChallenges,
  writeChallenge,
} from './challenge.ts'
export {
  type CardDetails,
  type CardPayload,
  type ChargeRequest,
  cardDetailsOf,
  cardPayloadOf,
  encodeRequest,
  requestOf,
} from './charge-request.ts'
export {
  type Credential,
  contentDigest,
  credentialDigest,
  digestMatches,
  isPaymentScheme,
  parseCredential,
  writeCredential,
} from './credential.ts'
export { type MerchantKey, merchantKeyOf, merchantKeyProblem } from './merchant-key.ts'
export { type ProblemDetails, type ProblemType, problemDetails, problemType } from './problem-details.ts'
export { isInstant, parseReceipt, type Receipt, receiptProblem, writeReceipt } from './receipt.ts'
