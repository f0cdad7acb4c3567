export { auditApi } from './api.ts'
