export { signingKeysApi } from './api.ts'
export { type LoadedKeys, loadKeys } from './load-keys.ts'
