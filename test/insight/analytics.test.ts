import './analytics/costs.ts'
import './analytics/reports.ts'
