export {
  authorizationEvents,
  authorizationsApi,
  incomingMessageSchema,
  ProcessorMessageAnswer,
} from './api.ts'
export {
  checkoutConfirmationBlocker,
  confirmCheckoutPayment,
  type DisputeLimitAdjustments,
  loadCheckoutConfirmations,
  openDisputeLimitAdjustments,
} from './apply-facts.ts'
export { CARD_REFUND_SOURCE, CardAuthorization, CardMessage, isPaidByCardSql } from './authorization.ts'
export { authorizationsOfTransactions } from './authorization-rows.ts'
export { type CardBatch, writeCardBatch } from './batch.ts'
export { processMessageOnce } from './network/process-messages.ts'
export {
  applyTokenPaymentOutcome,
  type BegunTokenPayment,
  decideTokenPayment,
  isApprovedByNetwork,
  loadTokenPayments,
  obstaclesToBegun,
  startedTokenPayments,
  type TokenPayment,
  tokenPaymentAuthorization,
  tokenPaymentEvents,
} from './token-payments.ts'
