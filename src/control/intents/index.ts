export type { IntentRow } from './intent-rows.ts'
export {
  aboveHeldMessage,
  isApprovedPayee,
  openPayments,
  Payments,
  paidEvents,
  paymentsToCancel,
  type SubmissionBlocker,
} from './payments.ts'
