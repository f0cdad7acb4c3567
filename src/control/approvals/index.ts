export { readApprovers, readApproversAndDeputies, tooFewApprovers } from './approvers.ts'
export {
  type ApprovalAdvance,
  type ApprovalProgress,
  type Approver,
  advanceApproval,
  askedApprovers,
  beginApproval,
  dropApprovals,
  giveApproval,
  hasLostApprovers,
  nextOfApproval,
  remindOfApproval,
  restartApproval,
  stepEndsAt,
  whyNotAsked,
} from './progress.ts'
export {
  deleteRecordedApprovals,
  insertRecordedApprovals,
  RecordedApproval,
  type RecordedApprovalRow,
  recordedApprovalsOf,
} from './recorded-approval.ts'
export {
  ApprovalProgressRecord,
  approvalCountInWords,
  approvalProgressResponse,
  approverRefusalCodes,
  approverRefusals,
} from './response.ts'
