import type { WriteContext } from '../../../kernel/contract/context.ts'
import type { Row } from '../../../kernel/contract/sql.ts'
import { addMs, clock } from '../../../values/clock.ts'
import type { webhookSteps } from '../deliveries-api.ts'
import { giveUpWebhook, notifyDeliverers } from '../subscriptions.ts'
import { type ClaimedDelivery, LEASE_MS } from './claim.ts'
import { MAX_IN_FLIGHT } from './fair-queue.ts'
import { applyDeliveryOutcomes } from './outcomes.ts'
import type { DeliveryAttemptResult, WebhookDisableReason } from './retry.ts'
import { withTraceparents } from './traced.ts'

type Transaction = WriteContext<(typeof webhookSteps.attempt)['emits']>

const LEASE_RETRY = `
select is_busy as "isBusy", id, webhook_id as "webhookId", claim, event_id as "eventId", event, request_id as "requestId", body, url,
  secret, next_secret as "nextSecret", next_from as "nextFrom",
  (select w.failures from webhooks w where w.id = leased.webhook_id) as failures
from lease_retry($1, $2, $3, $4, '${LEASE_MS} ms', $5, ${MAX_IN_FLIGHT.receiver}, ${MAX_IN_FLIGHT.owner}) leased`

type LeasedRetry = Row &
  Omit<ClaimedDelivery, 'until' | 'lease' | 'range' | 'sealed'> &
  Omit<ClaimedDelivery['sealed'], 'id'> & { readonly isBusy: boolean; readonly failures: number }

interface ClaimedRetry extends ClaimedDelivery {
  /** How many rounds had failed at the receiver. */
  readonly failures: number
}

/**
 * Claims a delivery whose attempt is due by its run, with the address and secrets that its subscription has now. `busy`: other
 * attempts at its receiver, or of its owner, come first. Undefined where no attempt is due.
 */
export async function claimRetry(
  id: string,
  holder: string,
  { sql, tenant, systems }: Transaction,
): Promise<ClaimedRetry | 'busy' | undefined> {
  const now = clock.real()
  const [leased] = await sql<LeasedRetry>(LEASE_RETRY, [tenant.ownerId, tenant.mode, id, now, holder])
  if (!leased) return undefined
  const { isBusy, secret, nextSecret, nextFrom, ...retry } = leased
  if (isBusy) return 'busy'
  const sealed = { id: retry.webhookId, secret, nextSecret, nextFrom }
  const claimed = { ...retry, sealed, until: addMs(now, LEASE_MS), lease: holder, range: null }
  await withTraceparents(sql, systems.tracing, [claimed])
  return claimed
}

const END_RETRY = 'delete from retries_under_way where delivery_id = $1 and leased_by = $2'

/** Records what became of an attempt of a run; null releases the delivery, and the attempt is made again. */
export async function recordRetry(
  { id, webhookId, claim, lease, url, failures }: ClaimedRetry,
  result: DeliveryAttemptResult | null,
  context: Transaction,
): Promise<void> {
  const { sql, settings } = context
  const outcomes = [{ id, webhookId, claim, lease, range: null, result, failures }]
  const waitsMs = settings.webhookRetrySeconds.map(seconds => seconds * 1_000)
  const { toDisable } = await applyDeliveryOutcomes(sql, { outcomes, toUpdate: outcomes, waitsMs })
  await sql(END_RETRY, [id, lease])
  // What waits behind it may have its place.
  await notifyDeliverers(sql)
  const why = reasonToDisable(url, result, toDisable)
  if (why) await giveUpWebhook(webhookId, why, context)
}

function reasonToDisable(
  url: string,
  result: DeliveryAttemptResult | null,
  toDisable: readonly string[],
): WebhookDisableReason | undefined {
  if (result?.attempt.status === 410) return { reason: 'gone', url }
  return toDisable.length > 0 ? { reason: 'failing', url: null } : undefined
}
