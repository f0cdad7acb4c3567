import { Relay } from '../../src/kernel/background/relay.ts'
import type { Deliver } from '../../src/kernel/journal/outbox.ts'
import { newId } from '../../src/values/ids.ts'
import type { Engine } from './engine.ts'
import { until } from './until.ts'

export const relays: Relay[] = []

interface RowLeft {
  readonly workflow_id: string
  readonly attempts: number
  readonly wait: number
}

/** One that nobody frees. */
export const lease = { hold: async () => 'lease' }

/** A delivery that ends when it is told to. */
export function held() {
  const release: (() => void)[] = []
  const deliver: Deliver = () => new Promise(resolve => release.push(resolve))
  return { release, deliver }
}

/** Relays on an engine, and the outbox that they empty. */
export function relaysOn(engine: Engine) {
  const { database } = engine.runtime

  /** A relay that is stopped after the test. */
  function start(
    deliver: Deliver,
    onFailure: (error: unknown) => void = () => undefined,
    of = database,
  ): Relay {
    const one = new Relay({ database: of, lease, deliver, onFailure })
    relays.push(one)
    return one
  }

  /** So many rows of work, each for a record of its own unless they are told for which. */
  async function queue(count: number, workflowId?: string): Promise<void> {
    await engine.sql(
      `insert into outbox (id, owner_id, mode, process, recurs, workflow_id, input, created_at, due_at)
     select id, 'customer_1', 'test', 'intent', false, coalesce($2, 'intent/' || id), jsonb_build_object('id', id), now(), now()
     from unnest($1::text[]) as id`,
      [Array.from({ length: count }, () => newId('outbox')), workflowId ?? null],
    )
  }

  const rows = async (): Promise<RowLeft[]> =>
    (
      await engine.sql(
        `select workflow_id, attempts, extract(epoch from due_at - clock_timestamp())::float8 as wait
       from outbox order by due_at`,
      )
    ).rows

  const isEmpty = () => until('the outbox is empty', async () => (await rows()).length === 0)

  /** What is leased or postponed is due now. */
  const letTimePass = () => engine.sql('update outbox set due_at = now()')

  return { database, start, queue, rows, isEmpty, letTimePass }
}
