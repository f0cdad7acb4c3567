import './analytics/allocation.ts'
import './analytics/costs.ts'
import './analytics/reports.ts'
