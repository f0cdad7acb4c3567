export { readApprovers, readApproversAndDeputies, tooFewApprovers } from './approvers.ts'
export {
  type ApprovalProgress,
  type Approver,
  advanceApproval,
  beginApproval,
  dropApprovals,
  giveApproval,
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
} from './response.ts'
export {
  addApproval,
  approvalProgressOf,
  approverProblem,
  type CountedApproval,
  nextOfWaiting,
  setApproval,
  type UncountedApproval,
} from './waiting-request.ts'
