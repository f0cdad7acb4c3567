export { anomaliesApi } from './anomalies/api.ts'
export { costsApi } from './costs-api.ts'
export { merchantsApi } from './merchants-api.ts'
export { rhythmOf } from './rhythm.ts'
