export {
  splitTransferApi,
  transferLimitsApi,
  transferReferenceSchema,
  transferRefusals,
  transfersApi,
} from './api.ts'
export { intentTransferRefusal, type TransferRequest } from './intent-checks.ts'
export { decideTransfers, type TransferBatch } from './pay.ts'
export {
  internalPaymentEvents,
  sepaTransferEvents,
  TransferEvent,
  TransferRecord,
  transferEvents,
} from './schemas.ts'
export { transferSteps } from './sepa/api.ts'
export { assignBankDebit, type BookedDebit } from './sepa/bank-debit.ts'
export {
  applyBankNotice,
  type RailAnswer,
  recordRailAnswer,
  recordRecallAnswer,
  type SubmittedPayment,
  submittedPayments,
} from './sepa/notices.ts'
export { type CreditReturns, loadCreditReturns } from './sepa/pay-back.ts'
export {
  cancelUnconfirmedTransfer,
  recordPayeeCheck,
  reserveInquiry,
  reservePayeeCheck,
  reserveSubmission,
  submitInTime,
  transferStatus,
} from './sepa/steps.ts'
export { lockRefundedAgents, refundTransfer, transferRefundApi, transferRefundBatch } from './take-back.ts'
export { awaitsPayeeConfirmation } from './transfer.ts'
export { TRANSFERS_TO_CONFIRM_SQL } from './transfers.ts'
