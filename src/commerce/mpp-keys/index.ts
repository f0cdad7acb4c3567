export { mppKeysApi } from './api.ts'
export { decryptToken } from './decrypt-token.ts'
export { CHALLENGE_MS } from './mpp-key.ts'
export {
  currentKeyOf,
  type LiveKey,
  liveKeys,
  type OfferingKey,
  offeringKey,
  openKey,
} from './offering-key.ts'
