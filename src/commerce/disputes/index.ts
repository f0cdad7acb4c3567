export { disputesApi } from './api.ts'
export { Dispute } from './dispute.ts'
