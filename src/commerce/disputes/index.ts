export { Dispute } from './dispute.ts'
