export { declareEvents, intentsApi } from './api.ts'
export { approvalApi } from './approval/approval-api.ts'
export { hasProof, proofOf, reviewApproval } from './approval/approvals.ts'
export { deciderOf } from './approval/approve.ts'
export { type DeclareRequest, type DeclareState, declare } from './declare.ts'
export { inquiryApi } from './inquiry-api.ts'
export {
  findIntent,
  findIntents,
  findIntentsById,
  hasPayeeRecord,
  type Intent,
  type IntentRow,
  lockIntents,
  unpayableBecause,
} from './intent.ts'
export { cancel } from './intent-batch.ts'
export {
  findPayableIntents,
  type IntentSearch,
  lockIntentForCard,
  nameCard,
  whyNotByCard,
} from './payable-intents.ts'
export { findRequests, requestRefusal } from './payees.ts'
export {
  aboveHeldMessage,
  IntentPayments,
  isApprovedPayee,
  noteReceipts,
  openPayments,
  paidEvents,
  paymentsToCancel,
  type SubmissionBlocker,
} from './payments.ts'
export { declareRefusals, IntentEvent, requestRefusals } from './schemas.ts'
export { simulationApi } from './simulation-api.ts'
