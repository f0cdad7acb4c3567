import { processOf } from '../../../kernel/background/deadlines.ts'
import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Registered } from '../../../kernel/contract/operation.ts'
import type { Row } from '../../../kernel/contract/sql.ts'
import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import type { Execute } from '../../../kernel/run/execute.ts'

interface Parts {
  readonly database: Database
  readonly execute: Execute
  readonly operations: readonly Registered[]
}

/** The reason, and the URL if a response caused it. */
export interface GiveUpReason {
  readonly reason: 'gone' | 'failing'
  readonly url: string | null
}

/** Disables a subscription by an operation, so that there is an event. */
export async function giveUp(
  { database, execute, operations }: Parts,
  webhookId: string,
  body: GiveUpReason,
): Promise<void> {
  const operation = operations.find(({ key }) => key === 'webhooks.giveUp')
  const [tenant] = await sqlOn(database.pool)<Tenant & Row>(
    'select owner_id as "ownerId", mode from webhooks where id = $1',
    [webhookId],
  )
  if (!operation || !tenant) return
  await execute({
    operation,
    actor: processOf(tenant),
    input: { params: { id: webhookId }, query: {}, body },
    requestId: `webhook:${webhookId}`,
    address: null,
    idempotencyKey: null,
  })
}
