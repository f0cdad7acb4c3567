export { refundSteps, refundsApi } from './api.ts'
export { askMerchant, recordMerchantAnswer, reserveMerchantRequest } from './merchant.ts'
export { expireRefund, refundStatus } from './steps.ts'
