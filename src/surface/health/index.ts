export { healthApi, LiveRails } from './api.ts'
export { SERVICE_VERSION } from './health.ts'
