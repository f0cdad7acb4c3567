export { authorizationEvents, authorizationsApi, incomingMessage, MessageAnswer } from './api.ts'
export {
  confirmationBlocker,
  confirmPayment,
  type DisputeCredits,
  loadConfirmations,
  openDisputeCredits,
} from './apply-facts.ts'
export { CardAuthorization, CardMessage } from './authorization.ts'
export { authorizationsOfTransactions } from './authorization-rows.ts'
export { agentLanes, type CardBatch, writeCardBatch } from './batch.ts'
export { deduplicate } from './network/process-messages.ts'
export {
  type BegunPayment,
  decideTokenPayment,
  isTokenPaymentConfirmed,
  loadTokenPayments,
  settleTokenPayment,
  type TokenPayment,
  tokenPaymentEvents,
} from './token-payments.ts'
