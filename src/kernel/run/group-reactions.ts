import type { PoolClient } from 'pg'
import type { Sql } from '../contract/sql.ts'
import { entitiesOn } from '../database/connection.ts'
import type { EventRow, Journal } from '../journal/journal.ts'
import type { Entry } from './group-decide.ts'
import { note } from './plain.ts'
import { RequestContext } from './request-context.ts'
import type { Runtime } from './runtime.ts'

interface Opened {
  readonly client: PoolClient
  readonly sql: Sql
  readonly journal: Journal
}

/**
 * What other areas do about the events of a batch, in its transaction, once it has written what it decided. Few events
 * of hot operations have a reaction, and where none has, this costs nothing.
 */
export async function reactToBatch(
  runtime: Runtime,
  entries: readonly Entry[],
  opened: Opened,
): Promise<void> {
  const isHeard = ({ event }: EventRow): boolean => runtime.reactions.has(event)
  for (const entry of entries) {
    const heard = entry.events?.filter(isHeard) ?? []
    if (heard.length > 0) await reactTo(heard, entry, runtime, opened)
  }
}

async function reactTo(
  heard: readonly EventRow[],
  { call, now, result }: Entry,
  runtime: Runtime,
  { client, sql, journal }: Opened,
): Promise<void> {
  if (result?.status !== 'fulfilled') return
  const context = new RequestContext(runtime, call, now, { em: entitiesOn(runtime.database, client), sql })
  context.events.push(...heard)
  await context.react()
  await context.em.flush()
  context.events.splice(0, heard.length)
  note(call, context, journal, result.value)
}
