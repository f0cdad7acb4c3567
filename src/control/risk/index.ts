export { riskEvents } from './api.ts'
export { openWatch, Watch } from './risk-assessor.ts'
