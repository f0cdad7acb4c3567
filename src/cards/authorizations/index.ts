export { CardAuthorization, CardMessage } from './authorization.ts'
export type { CardBatch } from './batch.ts'
export { confirmationBlocker, confirmPayment, loadConfirmations, writeConfirmations } from './confirm.ts'
export { authorizationEvents } from './messages-api.ts'
