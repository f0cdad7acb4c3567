export { sessionsApi } from './api.ts'
export { deviceApi } from './device-api.ts'
