export { auditApi } from './api.ts'
export { sealPage } from './sealer.ts'
export type { DecidingAction } from './search.ts'
