import type { EmitContext, SqlContext } from '../../kernel/contract/context.ts'
import { clock } from '../../values/clock.ts'
import { leftToRun } from './delivery.ts'
import { webhookProcess } from './process.ts'

/** A receiver has few. What is beyond is sent by deliverers. */
const MOST_RUNS = 200

const WAITING = `
select one.id, one.event, one.webhook_id from deliveries one
where one.webhook_id = any($3::text[]) and one.status in ('pending') and one.attempt_at is not null
  and (one.leased_until is null or one.leased_until <= $4)
order by one.attempt_at limit ${MOST_RUNS}`

/**
 * What is locked is not waited for, since who holds a delivery may wait for its receiver. Its run looks at it as well: who holds
 * it may have seen the receiver as it was.
 */
const LEAVE_TO_RUNS = `
with waiting as (${WAITING}),
free as (${WAITING} for update skip locked),
left_to_runs as (
  update deliveries d set attempt_at = greatest(d.attempt_at, $4), due_at = greatest(d.attempt_at + ($5::timestamptz - $4), $5)
  where d.owner_id = $1 and d.mode = $2 and d.id = any(array(select free.id from free)))
select id, event, webhook_id as "webhookId" from waiting union select id, event, webhook_id from free`

interface Waiting extends Record<string, unknown> {
  readonly id: string
  readonly event: string
  readonly webhookId: string
}

/**
 * Receivers are served again, before the end of a pause or after their subscription was disabled: the runs of their
 * deliveries go on, or begin again, with the time to make their attempts.
 */
export async function continueRuns(
  { sql, tenant, wake }: SqlContext & EmitContext,
  webhookIds: readonly string[],
): Promise<void> {
  const { attemptAt, dueAt } = leftToRun(clock.real())
  const values = [tenant.ownerId, tenant.mode, webhookIds, attemptAt, dueAt]
  for (const { id, event, webhookId } of await sql<Waiting>(LEAVE_TO_RUNS, values))
    wake(webhookProcess, { id, agentId: null, about: `${event} to ${webhookId}` })
}
