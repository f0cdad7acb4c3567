import './forecast/at-risk.ts'
import './forecast/outlooks.ts'
