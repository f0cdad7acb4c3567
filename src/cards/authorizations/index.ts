export { agentLanes } from './agent-lanes.ts'
export { authorizationsApi } from './api.ts'
export { CardAuthorization, CardMessage } from './authorization.ts'
export { type CardBatch, writeCardBatch } from './batch.ts'
export { confirmationBlocker, confirmPayment, loadConfirmations, writeConfirmations } from './confirm.ts'
export { authorizationEvents } from './messages-api.ts'
export {
  type BegunPayment,
  decideTokenPayment,
  isTokenPaymentConfirmed,
  loadTokenPayments,
  settleTokenPayment,
  type TokenPayment,
  tokenPaymentEvents,
} from './token-payments.ts'
