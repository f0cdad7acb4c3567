export { intentsApi } from './api.ts'
export { approvalApi } from './approval/approval-api.ts'
export { deciderOf } from './approval/decider.ts'
export { hasProof, reviewApproval } from './approval/review.ts'
export { lockIntentForCard, nameCard, whyNotByCard } from './card.ts'
export { type DeclareRequest, type DeclareState, declare } from './declare.ts'
export { declareEvents } from './declare-events.ts'
export { inquiryApi } from './inquiry-api.ts'
export { hasPayeeRecord, type Intent } from './intent.ts'
export { findIntents, type IntentRow, lockIntents } from './intent-rows.ts'
export { findPayableIntents, type IntentSearch } from './payable-intents.ts'
export { findRequests, requestRefusal } from './payees.ts'
export {
  aboveHeldMessage,
  isApprovedPayee,
  openPayments,
  Payments,
  paidEvents,
  paymentsToCancel,
  type SubmissionBlocker,
} from './payments.ts'
export { noteReceipts } from './receipts.ts'
export { declareRefusals, requestRefusals } from './refusals.ts'
export { findIntent, findIntentsById, unpayableBecause } from './reveal.ts'
export { IntentEvent } from './schemas.ts'
export { cancel } from './settle.ts'
export { simulationApi } from './simulation-api.ts'
