export { applyPaymentFact, capturePayment, holdPayment, refundPayment, writePayments } from './apply.ts'
export { countLimitUsage, type UsageCountingBatch } from './count-usage.ts'
export { bookedPaymentAmounts } from './diff.ts'
export {
  type AuthRequest,
  addPaymentFact,
  collectPaymentFacts,
  decodeAuthRequests,
  disputeCreditCents,
  noPaymentFacts,
  type PaymentFact,
  type PaymentFacts,
  reversalAndExpiryFacts,
} from './facts.ts'
export { refundWalletId } from './move-money.ts'
export {
  type FactEvidence,
  messageEvidence,
  type PayingIntent,
  type Payment,
  type PaymentBatch,
  type PaymentChannel,
  type PaymentEmitContext,
  type PaymentRecordView,
  type PostedPaymentBatch,
  paymentBatch,
} from './payment.ts'
export {
  incrementPostingReference,
  intentHoldReference,
  paymentHoldReferences,
  paymentReservationReferences,
} from './references.ts'
export { foldPaymentFacts, type PaymentState } from './state.ts'
