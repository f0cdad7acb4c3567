export { mppApi } from './api.ts'
export { protectApi } from './protect-api.ts'
