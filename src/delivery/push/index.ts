export { oldestPushSeconds } from './claim.ts'
export { Pusher } from './pusher.ts'
export { drop } from './unsubscribe.ts'
