export { auditApi } from './api.ts'
export type { DecidingAction } from './decisions.ts'
export { sealPage } from './sealer.ts'
