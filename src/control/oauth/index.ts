export { oauthApi } from './api.ts'
export {
  type AuthorizationRequest,
  authorizationAnswer,
  checkAuthorization,
  resourceOf,
  sealRequest,
} from './authorization.ts'
