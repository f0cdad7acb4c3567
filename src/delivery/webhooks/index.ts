export { webhooksApi } from './api.ts'
export { deliveriesApi } from './deliveries-api.ts'
export {
  BACKLOG_DUE_SQL,
  BacklogKeeper,
  countPausedWebhooks,
  countWebhooksBehind,
  deliveryCounts,
  deliveryOverdueSeconds,
  expireDeliveries,
} from './dispatch/backlog-keeper.ts'
export { WebhookDeliverer } from './dispatch/deliverer.ts'
export { disableWebhook } from './dispatch/retry.ts'
