export { pushApi } from './api.ts'
export { oldestPushSeconds } from './claim.ts'
export { Pusher } from './pusher.ts'
export { unsubscribe, urgentEvents } from './subscription.ts'
