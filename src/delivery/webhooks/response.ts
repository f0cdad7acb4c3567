import type { OperationSettings } from '../../kernel/contract/ports.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { addMs, clock } from '../../values/clock.ts'
import { formatMinute } from '../../values/minute.ts'
import { type Delivery, deliveryStatus, nextAttemptAt } from './delivery.ts'
import { retryScheduleOfPlan } from './dispatch/retry.ts'
import { webhookHealthResponse } from './health.ts'
import type { Webhook } from './webhook.ts'

interface ResponseContext extends Clocked {
  readonly plan: string
  readonly settings: Pick<OperationSettings, 'webhookRetrySeconds'>
}

/** The time by the tenant's clock. */
type Clocked = { readonly now: Date }

/** How far the tenant's clock is ahead of real time; it is advanced by whole seconds. */
export const tenantClockAheadMs = ({ now }: Clocked): number =>
  Math.max(0, Math.round((now.getTime() - clock.milliseconds()) / 1_000)) * 1_000

export function webhookResponse(webhook: Webhook, around: ResponseContext) {
  const now = clock.real()
  const { nextHint, nextFrom, hint } = webhook
  const waits = nextHint !== null && nextFrom !== null && nextFrom > now
  return withMembers(webhook, {
    hint: nextHint !== null && !waits ? nextHint : hint,
    nextSecret: waits ? { hint: nextHint, from: nextFrom } : null,
    retries: retryScheduleOfPlan(around.plan, around.settings.webhookRetrySeconds),
    health: webhookHealthResponse(webhook, { now, aheadMs: tenantClockAheadMs(around) }),
    backlog: backlogResponse(webhook),
  })
}

function backlogResponse({ backlogAfter: after, backlogSince: pausedAt }: Webhook) {
  if (after === null || pausedAt === null) return null
  const message = `More deliveries wait for it than your plan allows. Events after ${after || 'its beginning'} are sent in order, as the receiver accepts the waiting ones; nothing is lost.`
  return { pausedAt, after, message }
}

export function deliveryResponse(delivery: Delivery, webhook: Webhook | undefined, clocked: Clocked) {
  const status = deliveryStatus(delivery)
  const aheadMs = tenantClockAheadMs(clocked)
  const due =
    status === 'pending' && isWebhookServed(webhook)
      ? later(nextAttemptAt(delivery), webhook.pausedUntil)
      : null
  return withMembers(delivery, {
    status,
    explanation: explainDelivery(delivery, webhook, aheadMs),
    nextAttemptAt: due && addMs(due, aheadMs),
  })
}

export const isWebhookServed = (webhook: Webhook | undefined): webhook is Webhook =>
  webhook?.status === 'active' && !webhook.deletedAt

const later = (one: Date | null, other: Date | null): Date | null =>
  one && other ? new Date(Math.max(one.getTime(), other.getTime())) : (one ?? other)

type Explained = Pick<Delivery, 'status' | 'leasedUntil' | 'attempts' | 'dueAt' | 'attemptAt' | 'tries'>

export function explainDelivery(delivery: Explained, webhook: Webhook | undefined, aheadMs: number): string {
  const { attempts, tries } = delivery
  const last = attempts.at(-1)
  const count = attempts.length === 1 ? 'one attempt' : `${attempts.length} attempts`
  const wrong = last?.error ? ` ${last.error}` : ''
  switch (deliveryStatus(delivery)) {
    case 'delivered':
      return `Delivered after ${count}, the last in ${last?.latencyMs ?? 0} ms.`
    case 'delivering':
      return 'The delivery is in progress.'
    case 'failed':
      return `Given up after ${count}.${wrong}`
    case 'dead':
      return `A dead letter after ${count}.${wrong} Replay it once the receiver works.`
    case 'pending': {
      const waits = waitingFor(webhook, { tries, at: nextAttemptAt(delivery), aheadMs })
      return waits.endsWith(wrong) ? waits : waits + wrong
    }
  }
}

interface Waits {
  readonly tries: number
  readonly at: Date | null
  readonly aheadMs: number
}

function waitingFor(webhook: Webhook | undefined, { tries, at, aheadMs }: Waits): string {
  const now = clock.real()
  const byTenantClock = (at: Date): string => formatMinute(addMs(at, aheadMs))
  if (!webhook || webhook.deletedAt) return 'The subscription is deleted, so it is no longer sent.'
  if (webhook.status === 'disabled')
    return `The delivery waits until the subscription is active again. ${webhook.statusReason ?? ''}`.trim()
  if (webhook.pausedUntil && webhook.pausedUntil > now)
    return `The delivery waits: the receiver keeps failing and is paused until ${byTenantClock(webhook.pausedUntil)}.`
  if (at && at > now) return `Attempt ${tries + 1} is made at ${byTenantClock(at)}.`
  return 'The delivery is about to be sent.'
}
