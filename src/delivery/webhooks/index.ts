export { webhooksApi } from './api.ts'
export { deliveriesApi } from './deliveries-api.ts'
export {
  BACKLOG_DUE,
  BacklogKeeper,
  behindCount,
  deliveryCounts,
  expireDeliveries,
  overdueSeconds,
  pausedCount,
} from './dispatch/backlog-keeper.ts'
export { Deliverer } from './dispatch/deliverer.ts'
export { giveUp } from './dispatch/retry.ts'
