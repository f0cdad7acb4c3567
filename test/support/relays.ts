import { OutboxRelay } from '../../src/kernel/background/relay.ts'
import type { DeliverOutboxMessage } from '../../src/kernel/journal/outbox.ts'
import { newId } from '../../src/values/ids.ts'
import type { Engine } from './engine.ts'
import { until } from './until.ts'

export const startedRelays: OutboxRelay[] = []

interface OutboxRow {
  readonly workflow_id: string
  readonly attempts: number
  readonly wait: number
}

/** Tests change rows without a notice. */
export const POLL_MS = 1_000

export const stubLease = { hold: async () => 'lease' }

/** A `deliver` whose calls end when the test releases them. */
export function pendingDeliveries() {
  const release: (() => void)[] = []
  const deliver: DeliverOutboxMessage = () => new Promise(resolve => release.push(resolve))
  return { release, deliver }
}

export function relaysOn(engine: Engine) {
  const { database } = engine.runtime

  function start(
    deliver: DeliverOutboxMessage,
    onFailure: (error: unknown) => void = () => undefined,
    on = database,
  ): OutboxRelay {
    const relay = new OutboxRelay({ database: on, lease: stubLease, deliver, onFailure, pollMs: POLL_MS })
    startedRelays.push(relay)
    return relay
  }

  /** Inserts rows that are due, for one workflow or one workflow each. Rounded to the column, `now()` may lie ahead. */
  async function queue(count: number, workflowId?: string): Promise<void> {
    await engine.sql(
      `insert into outbox (id, owner_id, mode, process, recurs, workflow_id, input, created_at, due_at)
     select id, 'customer_1', 'test', 'intent', false, coalesce($2, 'intent/' || id), jsonb_build_object('id', id), now(), now() - interval '1 ms'
     from unnest($1::text[]) as id`,
      [Array.from({ length: count }, () => newId('outbox')), workflowId ?? null],
    )
  }

  const rows = async (): Promise<OutboxRow[]> =>
    (
      await engine.sql(
        `select workflow_id, attempts, extract(epoch from greatest(due_at, leased_until) - clock_timestamp())::float8 as wait
       from outbox order by greatest(due_at, leased_until)`,
      )
    ).rows

  const untilEmpty = () => until('the outbox is empty', async () => (await rows()).length === 0)

  /**
   * Makes all leased and postponed rows due now. It locks the table, as a relay that is postponing them locks
   * rows in another order.
   */
  const makeDue = () =>
    engine.sql(
      `begin; lock table outbox in exclusive mode; update outbox set due_at = now() - interval '1 ms', leased_until = null; commit`,
    )

  return { database, start, queue, rows, untilEmpty, makeDue }
}
