export { agentLanes } from './agent-lanes.ts'
export { authorizationsApi } from './api.ts'
export { CardAuthorization, CardMessage } from './authorization.ts'
export { authorizationsOfTransactions } from './authorization-rows.ts'
export { type CardBatch, writeCardBatch } from './batch.ts'
export { confirmationBlocker, confirmPayment, loadConfirmations, writeConfirmations } from './confirm.ts'
export { type DisputeCredits, openDisputeCredits } from './dispute-credits.ts'
export { authorizationEvents, incomingMessage, MessageAnswer } from './messages-api.ts'
export type { IncomingMessage } from './network/incoming-message.ts'
export { takeOnce } from './network/take-once.ts'
export {
  type BegunPayment,
  decideTokenPayment,
  isTokenPaymentConfirmed,
  loadTokenPayments,
  settleTokenPayment,
  type TokenPayment,
  tokenPaymentEvents,
} from './token-payments.ts'
