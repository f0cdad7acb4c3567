export { receiptsApi } from './api.ts'
export { type Receipt, receiptsOfTransactions } from './receipt.ts'
