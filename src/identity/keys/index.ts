export { apiKeyEvents, apiKeysApi, requestedToolWritesSchema } from './api.ts'
export { currentDeviceScopes, currentHolders, secretAuthenticator } from './authenticate.ts'
export type { ApiKey } from './key.ts'
export { scopeCallerLacks } from './keys.ts'
export { keyExpiryProblem, lockCaller } from './locked-caller.ts'
export {
  createDeviceKey,
  findApiKey,
  findApiKeys,
  type IssuedApiKey,
  revokeKeysMadeInSession,
  revokeKeysOfSession,
} from './made-key.ts'
