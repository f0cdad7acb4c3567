import type { EmitContext, SqlContext } from '../../kernel/contract/context.ts'
import { clock } from '../../values/clock.ts'
import { leftToRun } from './delivery.ts'
import { webhookProcess } from './process.ts'

/** A receiver has few. What is beyond is sent by deliverers. */
const MOST_RUNS = 200

/** What is locked has an outcome that is being recorded, which says when its run goes on. */
const LEAVE_TO_RUNS = `
update deliveries d set attempt_at = greatest(d.attempt_at, $4), due_at = greatest(d.attempt_at + ($5::timestamptz - $4), $5)
where d.owner_id = $1 and d.mode = $2 and d.id = any(array(
  select one.id from deliveries one
  where one.webhook_id = any($3::text[]) and one.status in ('pending') and one.attempt_at is not null
    and (one.leased_until is null or one.leased_until <= $4)
  order by one.attempt_at limit ${MOST_RUNS} for update skip locked))
returning d.id, d.event, d.webhook_id as "webhookId"`

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
