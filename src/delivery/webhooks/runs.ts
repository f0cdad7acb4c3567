import type { EmitContext, SqlContext } from '../../kernel/contract/context.ts'
import { clock } from '../../values/clock.ts'
import { leftToRun } from './delivery.ts'
import { webhookProcess } from './process.ts'
import type { Webhook } from './webhook.ts'

/** A receiver has few. What is beyond is sent by deliverers. */
const MOST_RUNS = 200

/** An outcome that is being recorded decides about its delivery itself. */
const LEAVE_TO_RUNS = `
update deliveries d set attempt_at = $4, due_at = $5, updated_at = $4
where d.id = any(array(
  select one.id from deliveries one
  where one.webhook_id = $3 and one.attempt_at <= $4 and (one.leased_until is null or one.leased_until <= $4)
  order by one.attempt_at limit ${MOST_RUNS} for update skip locked)) and d.owner_id = $1 and d.mode = $2`

const WAITING_FOR_RUNS = `
select d.id, d.event from deliveries d
where d.owner_id = $1 and d.mode = $2 and d.webhook_id = $3 and d.attempt_at is not null
order by d.attempt_at limit ${MOST_RUNS}`

/** The runs of a subscription's deliveries ended when it was disabled. Each begins again, with the time to make its attempt. */
export async function beginRuns({ id }: Webhook, { sql, tenant, wake }: SqlContext & EmitContext): Promise<void> {
  const ofWebhook = [tenant.ownerId, tenant.mode, id]
  const now = clock.real()
  const next = leftToRun(now)
  await sql(LEAVE_TO_RUNS, [...ofWebhook, next.attemptAt, next.dueAt])
  const waiting = await sql<{ id: string; event: string }>(WAITING_FOR_RUNS, ofWebhook)
  for (const { id: deliveryId, event } of waiting) wake(webhookProcess, { id: deliveryId, agentId: null, about: `${event} to ${id}` })
}
