export { lockIntentForCard, nameCard, whyNotByCard } from './card.ts'
export { hasPayeeRecord, type Intent } from './intent.ts'
export { findIntents, type IntentRow, lockIntents } from './intent-rows.ts'
export { findPayableIntents, type IntentSearch } from './payable-intents.ts'
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
