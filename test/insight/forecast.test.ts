import './forecast/method.ts'
import './forecast/outlooks.ts'
