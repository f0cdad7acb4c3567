export { healthApi } from './api.ts'
export { VERSION } from './health.ts'
