import './commerce/receipts/hostile-files.ts'
import './insight/analytics/crowds.ts'
import './insight/spend/at-once.ts'
