export {
  readApprovers,
  readApproversAndDeputies,
  type StepRefusal,
  stepRefusals,
  stepsProblem,
  unknownApprover,
  withoutRemoved,
} from './approvers.ts'
export {
  CHANGE_AMOUNT,
  ChangeRequest,
  changeRequestEvent,
  changeRequestMachine,
  changeRequestResponse,
  forgetAddress,
  forgetWrite,
  isHeldOperation,
  isWaiting,
  KEPT_WRITE_SQL,
  lockWaitingOfAgent,
  readWaitingChange,
} from './change-request.ts'
export { bySeveral, ChangeRequestEvent, ChangeRequestRecord } from './change-schemas.ts'
export {
  Deputy,
  deputyEvent,
  doSpansOverlap,
  isForOther,
  MAX_DEPUTIES,
  mayHaveOrBeDeputy,
  namingInWords,
  spanProblem,
} from './deputy.ts'
export {
  type ApproverChange,
  type AskingPolicy,
  findPolicyAskingAlone,
  findPolicyAskingMore,
  type HoldApproverChange,
  holdChange,
  holdUntilApproved,
  isAskedIn,
  policiesConcerned,
  policiesToAsk,
  stepsInForce,
} from './hold-change.ts'
export {
  type ApprovalProgress,
  type Approver,
  advanceApproval,
  askAnew,
  dropApprovals,
  giveApproval,
  type PolicySteps,
  remindOfApproval,
  restartApproval,
  whyNotAsked,
} from './progress.ts'
export {
  deleteRecordedApprovals,
  insertRecordedApprovals,
  RecordedApproval,
  type RecordedApprovalRow,
  recordedApprovalsOf,
  type SignedApproval,
} from './recorded-approval.ts'
export {
  ApprovalProgressRecord,
  approvalEventCounts,
  approvalEventMembers,
  approvalProgressResponse,
  approverRefusalCodes,
  approverRefusals,
  deniedInWords,
  readAskedApprovers,
} from './response.ts'
export {
  addApproval,
  approvalProgressOf,
  approverProblem,
  type CountedApproval,
  isAskedNow,
  makeAllDueSql,
  nextOfWaiting,
  setApproval,
  type UncountedApproval,
} from './waiting-request.ts'
