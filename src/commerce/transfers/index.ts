export { limitsApi, payRefusals, splitApi, transfersApi } from './api.ts'
export type { BatchState } from './batch.ts'
export { intentRefusal, type TransferRequest } from './intent-checks.ts'
export { pay } from './pay.ts'
export { recordPaymentEvents, sepaTransferEvents, TransferEvent, transferEvents } from './schemas.ts'
export {
  applyPayeeReport,
  applyRailNotice,
  type SubmittedPayment,
  submittedPayments,
} from './sepa/notices.ts'
export { openPayBacks, type PayBacks } from './sepa/pay-back.ts'
export { lockTakeBacks, takeBackApi } from './take-back.ts'
export { waitsForPayee } from './transfer.ts'
