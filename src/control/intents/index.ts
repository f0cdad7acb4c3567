export { declareEvents, intentSteps, intentsApi } from './api.ts'
export { approvalApi } from './approval/approval-api.ts'
export {
  findApprovalProof,
  hasApprovalProof,
  type IntentApprovalProgress,
  reviewApproval,
} from './approval/approvals.ts'
export { personalDecision } from './approval/approve.ts'
export { endApprovalStep, remindApprovers } from './approval/step-end.ts'
export { cancelIntentsOfAgent, cancelIntentsOfToken, firstOpenIntent } from './cancel.ts'
export { type DeclareIntentRequest, type DeclareIntentState, declareIntent } from './declare.ts'
export { intentInquiryApi } from './inquiry-api.ts'
export {
  findIntent,
  findIntents,
  findIntentsById,
  hasPayeeRecord,
  type Intent,
  type IntentRow,
  intentPaymentProblem,
  lockIntent,
  markPaymentWaits,
  unpayableIntentReason,
} from './intent.ts'
export { cancelIntentOperation, intentExpiry } from './intent-batch.ts'
export { intentStatus } from './intents.ts'
export { machinePaymentTermsOfIntents } from './machine-payment-terms.ts'
export {
  assignCardToIntent,
  findPayableIntents,
  mostOfIntentSql,
  notPayableByCardReason,
  type PayableIntentSearch,
  searchesByName,
} from './payable-intents.ts'
export { findPayeeRequests, payeeRequestRefusal } from './payees.ts'
export {
  aboveHeldAmountMessage,
  IntentPayments,
  type IntentSubmissionBlocker,
  intentPaidEvents,
  isApprovedPayee,
  updateIntentReceiptState,
} from './payments.ts'
export { intentApprovalProgress } from './response.ts'
export { INTENT_OF_OPENINGS, keptWithIntent } from './retention.ts'
export {
  declareIntentRefusals,
  IntentEvent,
  intentPaymentRefusals,
  intentUseRefusals,
  payeeRequestRefusals,
} from './schemas.ts'
export { intentSimulationApi } from './simulation-api.ts'
export { agentLanes, SpendLocks, SpendReads, type SpendSource, type WalletFunds } from './spend-locks.ts'
export { readIntentApproval, readWaitingIntent } from './waiting-intent.ts'
