export { payRefusals, transfersApi } from './api.ts'
export type { BatchState } from './batch.ts'
export { intentRefusal, type TransferRequest } from './intent-checks.ts'
export { limitsApi } from './limits/limits-api.ts'
export { pay } from './pay.ts'
export { recordPaymentEvents, sepaTransferEvents, TransferEvent, transferEvents } from './schemas.ts'
export { openPayBacks, type PayBacks } from './sepa/pay-back.ts'
export {
  applyPayeeReport,
  applyRailNotice,
  type SubmittedPayment,
  submittedPayments,
} from './sepa/rail-notices.ts'
export { splitApi } from './split-api.ts'
export { lockTakeBacks, takeBackApi } from './take-back.ts'
export { waitsForPayee } from './transfer.ts'
