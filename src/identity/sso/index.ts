export { ssoApi } from './api.ts'
export { type ProviderWrite, reconfigureProvider } from './configure.ts'
export { findSsoProvider } from './provider.ts'
