export { riskApi, riskEvents } from './api.ts'
export { openRiskAssessor, type RiskAssessor } from './risk-assessor.ts'
export { deviationOf, MAX_DEVIATIONS, medianOf } from './usual.ts'
