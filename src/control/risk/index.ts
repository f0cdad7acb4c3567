export { riskApi, riskEvents } from './api.ts'
export { openRiskAssessor, type RiskAssessor } from './risk-assessor.ts'
