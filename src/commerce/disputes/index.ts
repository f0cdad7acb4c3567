export { disputeSteps, disputesApi } from './api.ts'
export { callDisputeProcessor, recordDisputeAnswer, reserveDisputeCall } from './call-processor.ts'
export { Dispute } from './dispute.ts'
export { disputeStatus, followDisputeDeadlines } from './steps.ts'
