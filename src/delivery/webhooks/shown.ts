import { clock } from '../../kernel/clock.ts'
import { answered } from '../../kernel/record.ts'
import { type Delivery, shownState } from './delivery.ts'
import { shownHealth } from './health.ts'
import type { Webhook } from './webhook.ts'

/** A subscription as the API shows it: never a secret. */
export function shown(webhook: Webhook) {
  const now = clock.real()
  const { nextHint, nextFrom, hint } = webhook
  const waits = nextHint !== null && nextFrom !== null && nextFrom > now
  return answered(webhook, {
    hint: nextHint !== null && !waits ? nextHint : hint,
    nextSecret: waits ? { hint: nextHint, from: nextFrom } : null,
    health: shownHealth(webhook, now),
  })
}

/** A delivery with the answer to "why did I not get it?". */
export function shownDelivery(delivery: Delivery, webhook: Webhook | undefined) {
  const { dueAt } = delivery
  const status = shownState(delivery)
  return answered(delivery, {
    status,
    explanation: explain(delivery, webhook),
    nextAttemptAt: status === 'pending' && isServed(webhook) ? later(dueAt, webhook.pausedUntil) : null,
  })
}

/** Whether what waits for it is sent. */
export const isServed = (webhook: Webhook | undefined): webhook is Webhook =>
  webhook?.status === 'active' && !webhook.deletedAt

const later = (one: Date | null, other: Date | null): Date | null =>
  one && other ? new Date(Math.max(one.getTime(), other.getTime())) : (one ?? other)

type Told = Pick<Delivery, 'status' | 'leasedUntil' | 'attempts' | 'dueAt' | 'tries'>

/** Where a delivery stands and why, in a sentence or two. */
export function explain(delivery: Told, webhook: Webhook | undefined): string {
  const { attempts, dueAt, tries } = delivery
  const last = attempts.at(-1)
  const count = attempts.length === 1 ? 'one attempt' : `${attempts.length} attempts`
  const wrong = last?.error ? ` ${last.error}` : ''
  switch (shownState(delivery)) {
    case 'delivered':
      return `Delivered after ${count}, the last in ${last?.latencyMs ?? 0} ms.`
    case 'delivering':
      return 'It is being delivered just now.'
    case 'failed':
      return `Given up after ${count}.${wrong}`
    case 'dead':
      return `A dead letter after ${count}.${wrong} Replay it once the receiver is well.`
    case 'pending': {
      const waits = waitingFor(webhook, tries, dueAt)
      return waits.endsWith(wrong) ? waits : waits + wrong
    }
  }
}

function waitingFor(webhook: Webhook | undefined, tries: number, dueAt: Date | null): string {
  const now = clock.real()
  if (!webhook || webhook.deletedAt) return 'The subscription is deleted: it is not sent any more.'
  if (webhook.status === 'disabled')
    return `It waits until the subscription is active again. ${webhook.statusReason ?? ''}`.trim()
  if (webhook.pausedUntil && webhook.pausedUntil > now)
    return `It waits: the receiver keeps failing and is left alone until ${webhook.pausedUntil.toISOString()}.`
  if (dueAt && dueAt > now) return `Attempt ${tries + 1} is made at ${dueAt.toISOString()}.`
  return 'It is about to be delivered.'
}
