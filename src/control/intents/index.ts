export type { IntentRow } from './intent-rows.ts'
export {
  aboveHeld,
  type Bar,
  isApprovedPayee,
  openPayments,
  openPaymentsToEnd,
  Payments,
  paidEvents,
} from './payments.ts'
