export { auditApi } from './api.ts'
export type { AuditDecisionAction } from './audit.ts'
export { sealNextPage } from './sealer.ts'
export { SEALING_DUE_SQL, sealingBehindSeconds } from './unsealed.ts'
