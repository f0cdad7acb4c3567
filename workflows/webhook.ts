import type { WebhookActivities } from '../activities/webhooks.ts'
import { webhookProcess } from '../src/delivery/webhooks/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, decision, post, reading } from './shared/activities.ts'
import { pinned } from './shared/pinned.ts'
import { follow } from './shared/record-run.ts'

type DeliveryState = Awaited<ReturnType<WebhookActivities['readDelivery']>>

const { readDelivery, decideDelivery, sendAgain } = activities<WebhookActivities>({
  readDelivery: reading('Status of the delivery'),
  decideDelivery: decision('Carry out the decision of an operator'),
  sendAgain: post('Send the webhook to its receiver again'),
})

/**
 * Begins when the first attempt has failed. Waits as the owner’s tier, the settings, the receiver’s Retry-After and pause, and the
 * test clock say, and sends the webhook again, until the receiver accepts it or it is given up.
 */
export async function webhook(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, {
    process: webhookProcess,
    read: readDelivery,
    decide: decideDelivery,
    signals: { retryNow: 'Makes the next attempt at once.' },
    withoutPayload: true,
    withoutDeadline: true,
  })
  while (!record.isOver) {
    await record.waitFor(awaited(record.state), { whenDue: sendAgain })
  }
  return record.state.status
}

function awaited({ attempt, maxAttempts, receiver, deadline, isUnderWay, isPaused }: DeliveryState): string {
  if (isUnderWay) return `the answer of ${receiver}`
  if (!deadline) return `a deliverer, which sends it anew to ${receiver}`
  const next = `attempt ${attempt} of ${maxAttempts} to ${receiver}`
  return isPaused ? `${next}, which keeps failing and is paused until ${deadline}` : `${next} at ${deadline}`
}

pinned(webhook)
