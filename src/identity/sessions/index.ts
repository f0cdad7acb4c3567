export { deviceSessionsApi } from './api.ts'
export { deviceAuthorizationApi } from './device-api.ts'
