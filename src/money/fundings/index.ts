export { fundingsApi } from './api.ts'
export { sumPendingFundings } from './funding.ts'
export { followReturns } from './notices.ts'
