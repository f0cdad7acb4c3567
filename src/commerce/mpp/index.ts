export { mppApi, mppSteps, protectApi } from './api.ts'
export { machinePaymentStatus, PAYMENTS_TO_CONFIRM_SQL } from './mpp.ts'
export {
  deleteToken,
  endUnpaid,
  leaveOutcomeOpen,
  recordDeletedToken,
  reserveTokenDeletion,
} from './outcome.ts'
