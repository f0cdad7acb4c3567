export { sepaTransferEvents } from './schemas.ts'
export { applyRailNotice, type SubmittedPayment, submittedPayments } from './sepa/rail-notices.ts'
