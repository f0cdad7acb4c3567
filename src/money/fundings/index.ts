export { fundingsApi } from './api.ts'
export { sumPendingFundings } from './funding.ts'
