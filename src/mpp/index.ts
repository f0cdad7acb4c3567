export { type Acceptance, parseAcceptPayment, qualityOf } from './accept-payment.ts'
export { fromBase64url, isObject, type JsonObject, toBase64url } from './base64url.ts'
export { type CardDetails, cardDetailsOf } from './card-details.ts'
export { type CardPayload, cardPayloadOf } from './card-payload.ts'
export {
  type Challenge,
  credentialHeaderOf,
  parseChallenges,
  type ReadChallenges,
  writeChallenge,
} from './challenge.ts'
export { challengeId, isOwnChallenge, type Offer } from './challenge-id.ts'
export { type ChargeRequest, encodeRequest, requestOf } from './charge-request.ts'
export { contentDigest, digestMatches } from './content-digest.ts'
export {
  type Credential,
  credentialDigest,
  isPaymentScheme,
  parseCredential,
  writeCredential,
} from './credential.ts'
export { headerText } from './header-text.ts'
export { type MerchantKey, merchantKeyOf, merchantKeyProblem } from './merchant-key.ts'
export { type ProblemDetails, type ProblemType, problemDetails, problemType } from './problem-details.ts'
export { isInstant, parseReceipt, type Receipt, receiptProblem, writeReceipt } from './receipt.ts'
export { isUnusable, Unusable } from './unusable.ts'
