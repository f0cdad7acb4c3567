export { auditApi } from './api.ts'
export { sealPage } from './sealer.ts'
