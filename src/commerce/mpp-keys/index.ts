export { mppKeysApi } from './api.ts'
export { decryptToken } from './decrypt-token.ts'
export {
  CHALLENGE_MS,
  currentKeyOf,
  type LiveKey,
  liveKeys,
  type OfferingKey,
  offeringKey,
  openKey,
} from './mpp-key.ts'
