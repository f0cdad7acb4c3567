export { pushApi } from './api.ts'
export { oldestPushSeconds, PUSHES_DUE_SQL, PushSender } from './pusher.ts'
export { deletePushSubscription, urgentPushEvents } from './subscription.ts'
