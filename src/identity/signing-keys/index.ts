export { signingKeysApi } from './api.ts'
export { type LoadedSigningKeys, loadSigningKeys } from './signing-key.ts'
