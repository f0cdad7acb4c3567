import type { AttemptParts } from '../delivery/webhooks/index.ts'
import type { Systems } from '../kernel/contract/ports.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { withOutboundMetrics } from './database-metrics.ts'

export interface AttemptReports {
  readonly metrics: Metrics
  readonly log: Logger
}

/** Measured, and logged where the receiver does not accept it: the same for deliverers and for runs. */
export const webhookAttempts = (systems: Systems, { metrics, log }: AttemptReports): AttemptParts => ({
  systems: { ...systems, outbound: withOutboundMetrics(systems.outbound, metrics, 'webhook') },
  onRefused: ({ id, webhookId, event, requestId }, { status, latencyMs }) =>
    log.info(
      { deliveryId: id, webhookId, event, requestId, status, latencyMs },
      'a webhook was not accepted',
    ),
})
