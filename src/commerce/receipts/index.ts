export { receiptsApi } from './api.ts'
export { receiptsOf } from './find.ts'
export type { Receipt } from './receipt.ts'
