import './delivery/deliveries/many.ts'
import './insight/analytics/crowds.ts'
import './insight/spend/at-once.ts'
