export { pushApi } from './api.ts'
export { oldestPushSeconds, PUSHES_DUE, Pusher } from './pusher.ts'
export { unsubscribe, urgentEvents } from './subscription.ts'
