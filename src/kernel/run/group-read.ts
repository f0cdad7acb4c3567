import { assertRunIsOpen } from '../contract/call.ts'
import { CallExternal } from '../contract/handlers.ts'
import { batcher } from '../database/batcher.ts'
import { onConnection } from '../database/connection.ts'
import { sqlOfTransaction } from '../database/prepared-sql.ts'
import { asProblem } from '../database/retry.ts'
import { batchNameOf } from './group-commit.ts'
import { decideBy, type HotCall, handlerOf, itemOf } from './group-decide.ts'
import { nowOf } from './plain.ts'
import type { Runtime } from './runtime.ts'

const BATCH = { size: 12, inFlight: 2 }

type Read = CallExternal<unknown> | undefined

/**
 * Takes steps that reserve by reading alone, many at once. Gives the call that a step leads to;
 * undefined where it has decided to write or to refuse, which is decided again in a transaction.
 */
export function sharedReads(runtime: Runtime): (call: HotCall) => Promise<Read> {
  const batched = batcher<HotCall, Read>(BATCH, calls => read(runtime, calls))
  return async call => {
    assertRunIsOpen(call)
    try {
      return await batched(batchNameOf(call), call)
    } catch (error) {
      throw asProblem(error)
    }
  }
}

async function read(
  runtime: Runtime,
  calls: readonly HotCall[],
): Promise<readonly PromiseSettledResult<Read>[]> {
  const [first] = calls
  if (!first) return []
  const handler = handlerOf(first)
  const { items, state } = await onConnection(runtime.database, null, async client => {
    const sql = sqlOfTransaction(client)
    const now = await nowOf(sql, first.actor.tenant)
    const items = calls.map(call => itemOf({ call, now }))
    const state = await handler.load(items, sql, runtime.ports)
    return { items, state }
  })
  return calls.map((call, index) => {
    const { value, events, outbox } = decideBy(handler, call, items[index] as (typeof items)[0], state)
    const isRead = value instanceof CallExternal && events.length + outbox.length === 0
    return { status: 'fulfilled', value: isRead ? value : undefined }
  })
}
