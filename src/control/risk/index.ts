export { riskApi, riskEvents } from './api.ts'
export { loadRiskAssessor, type RiskAssessor } from './risk-assessor.ts'
export { deviationSql, MAX_USUAL_DEVIATIONS, medianSql } from './signals.ts'
