export { mandateSteps, mandatesApi } from './api.ts'
export { ExhaustedMandates, expireMandate, revokeOpenMandate } from './change.ts'
export { openMandateChallenge, signMandate } from './create.ts'
export { MAX_MANDATE_DAYS, mandateStatus } from './mandate.ts'
export { mandateRunStatus } from './mandates.ts'
export { AgentMandates, readCountersOfAgents } from './open-mandates.ts'
export { findMandates } from './response.ts'
export {
  MandateRecord,
  mandateCreatedEvent,
  mandateExhaustedEvent,
  mandateRevokedEvent,
  mandateTermRefusals,
  newMandateMembers,
} from './schemas.ts'
