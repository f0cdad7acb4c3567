export { railsApi, sepaFileSteps } from './api.ts'
export {
  bankFolderOf,
  claimFile,
  makePaymentFile,
  recordHandedOver,
  recordStaged,
  sayReportIsLate,
} from './files.ts'
export { applyNotice } from './message.ts'
export { claimNotices, countLateFiles, endTakingReport, sepaFileStatus } from './report.ts'
