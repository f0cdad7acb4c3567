export { lockIntentForCard, nameCard, whyNotByCard } from './card.ts'
export type { Intent } from './intent.ts'
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
export { findIntent, unpayableBecause } from './reveal.ts'
export { IntentEvent } from './schemas.ts'
