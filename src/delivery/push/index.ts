export { pushApi } from './api.ts'
export { oldestPushSeconds, Pusher } from './pusher.ts'
export { unsubscribe, urgentEvents } from './subscription.ts'
