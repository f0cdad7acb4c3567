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
export { cardChannel } from './channel.ts'
export { deduplicate } from './network/process-messages.ts'
export {
  decideTokenPayment,
  isPaidByNetwork,
  loadTokenPayments,
  outcomeFact,
  type TokenPayment,
  tokenPaymentEvents,
  tokenPaymentOf,
} from './token-payments.ts'
