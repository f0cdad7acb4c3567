export { riskApi, riskEvents } from './api.ts'
export { openRiskAssessor, type RiskAssessor } from './risk-assessor.ts'
export { deviationInSql, MAX_DEVIATIONS, medianInSql } from './signals.ts'
