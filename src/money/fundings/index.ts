export { fundApi } from './api.ts'
export { pendingCentsOf } from './funding.ts'
