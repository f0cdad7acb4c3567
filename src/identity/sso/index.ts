export { ssoApi } from './api.ts'
export { findSsoProvider } from './provider.ts'
