export { auditApi } from './api.ts'
export type { DecidingAction } from './audit.ts'
export { sealPage } from './sealer.ts'
export { SEALING_DUE } from './unsealed.ts'
