import type { WebhookActivities } from '../activities/webhooks.ts'
import { webhookProcess, webhookSignals } from '../src/delivery/webhooks/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { answersTo } from './shared/signals.ts'
import { stepsOf } from './shared/steps.ts'

const { readDelivery, retryDelivery, retryDeliveryNow } = stepsOf<WebhookActivities>()({
  readDelivery: { summary: 'How the delivery stands' },
  retryDelivery: { summary: 'Its time has come: the next attempt is made' },
  retryDeliveryNow: { summary: 'An operator does not want to wait' },
})

/** A delivery that has failed waits for its next attempt, again and again, until it is taken or given up. */
export const webhook = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    recurs: webhookProcess.recurs,
    read: readDelivery,
    answers: answersTo(webhookSignals, () => retryDeliveryNow(input), { withPayload: false }),
    story: record =>
      record.during(
        () => true,
        () => retryDelivery(input),
      ),
  })
