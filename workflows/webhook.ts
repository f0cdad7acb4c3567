import { proxyActivities } from '@temporalio/workflow'
import type { WebhookActivities } from '../activities/webhooks.ts'
import { webhookProcess, webhookSignals } from '../src/delivery/webhooks/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { follow, signals } from './follow-record.ts'

const { lookAtDelivery, retryDelivery, retryDeliveryNow } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: 15_000,
  retry: { initialInterval: 200, maximumInterval: 30_000 },
})

/** A delivery that has failed waits for its next attempt, or for somebody who does not; until it is taken or given up. */
export const webhook = (input: ProcessInput): Promise<string> =>
  follow(input, {
    recurs: webhookProcess.recurs,
    look: () => lookAtDelivery(input),
    due: () => retryDelivery(input),
    ...signals(webhookSignals, () => retryDeliveryNow(input)),
  })
