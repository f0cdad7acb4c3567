export { decryptToken, privateKeyOf } from './decrypt-token.ts'
export { CHALLENGE_MS } from './mpp-key.ts'
export {
  currentKeyOf,
  liveKeys,
  type OfferingKey,
  offeringKey,
  openKey,
  type StoredKey,
} from './offering-key.ts'
