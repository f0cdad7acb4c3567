export { receiptsApi } from './api.ts'
export { type Receipt, receiptsOf } from './receipt.ts'
