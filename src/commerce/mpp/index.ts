export { mppApi, mppSteps, protectApi, sentRefusals } from './api.ts'
export { machinePaymentStatus, PAYMENTS_TO_CONFIRM_SQL } from './mpp.ts'
export {
  deleteToken,
  endObstructed,
  endUnpaid,
  endUnsent,
  leaveOutcomeOpen,
  recordDeletedToken,
  reserveTokenDeletion,
} from './outcome.ts'
export {
  askAndMint,
  beginPayment,
  createSharedToken,
  giveBackToken,
  isUsable,
  recordNoToken,
  recordSharedToken,
  reserveSharedToken,
} from './pay/mint.ts'
export { claimOrder, interruptOrder, releaseOrder } from './pay/order.ts'
export {
  type CarriedPayment,
  recordIndeterminate,
  recordPaid,
  reserveSending,
  sendCredential,
} from './pay/send.ts'
export type { NextStep } from './story.ts'
