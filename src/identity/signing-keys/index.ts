export { signingKeysApi } from './api.ts'
export { type LoadedKeys, loadKeys } from './signing-key.ts'
