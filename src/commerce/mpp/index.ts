export { mppApi, protectApi } from './api.ts'
export { PAYMENTS_TO_CONFIRM_SQL } from './mpp.ts'
