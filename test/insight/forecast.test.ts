import './forecast/at-risk.ts'
import './forecast/method.ts'
import './forecast/outlooks.ts'
