export { webhooksApi } from './api.ts'
export { deliveryRunStatus } from './deliveries.ts'
export { deliveriesApi, webhookSteps } from './deliveries-api.ts'
export { type AttemptDelivery, type AttemptParts, deliveryAttempts } from './dispatch/attempt.ts'
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
export { claimRetry, recordRetry } from './dispatch/run-attempts.ts'
