import './forecast/at-risk.ts'
import './forecast/method.ts'
import './forecast/outlooks.ts'
import './forecast/unusual-pasts.ts'
