export { oauthApi } from './api.ts'
export { assistantsApi } from './assistants-api.ts'
export {
  type AuthorizationRequest,
  authorizationAnswer,
  type CheckedAuthorization,
  checkAuthorization,
  resourceOf,
  sealRequest,
} from './authorization.ts'
export { keepWhileDecided } from './client.ts'
export { findReadingGrants } from './grant.ts'
export { isOnThisMachine, redirectPlace } from './redirects.ts'
