export { mppKeysApi } from './api.ts'
export { decryptMppToken } from './decrypt-token.ts'
export {
  CHALLENGE_TTL_MS,
  type CurrentMppKey,
  currentMppKey,
  currentMppKeySql,
  openMppKey,
  type UsableMppKey,
  usableMppKeys,
} from './mpp-key.ts'
