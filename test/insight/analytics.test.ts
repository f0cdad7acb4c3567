import './analytics/costs.ts'
