export { fundApi } from './api.ts'
export { pendingEurosOf } from './funding.ts'
