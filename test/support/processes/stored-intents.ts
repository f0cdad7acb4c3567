import type { Client } from '@temporalio/client'
import { queryValues } from '../rows.ts'
import type { runViewer } from '../temporal/runs.ts'

/** A stored intent, with the names of its events and audit entries, sorted and with duplicates. */
export interface StoredIntent {
  readonly id: string
  readonly status: string
  readonly events: readonly string[]
  readonly audit: readonly string[]
}

const STORED_INTENTS = `
with emitted as (
  select data ->> 'intentId' as id, array_agg(event order by event) as events from events
  where event like 'intent.%' group by 1
), audited as (
  select resource_id as id, array_agg(event order by event) as audit from events
  where event like 'intent.%' group by 1
)
select json_build_object('id', id, 'status', status, 'events', events, 'audit', audit)
from intents left join emitted using (id) left join audited using (id)
where id = any($1::text[]) order by array_position($1, id)`

export const storedIntents = async (databaseUrl: string, ids: readonly string[]): Promise<StoredIntent[]> =>
  (await queryValues(databaseUrl, STORED_INTENTS, [ids])) as StoredIntent[]

/** The stored intents with the results of their runs; waits for the runs to end. */
export async function intentsWithRuns(
  databaseUrl: string,
  { of }: Pick<Awaited<ReturnType<typeof runViewer>>, 'of'>,
  ids: readonly string[],
): Promise<(StoredIntent & { readonly run: unknown })[]> {
  const results = new Map<string, unknown>()
  // In sequence, as Temporal is busy enough.
  for (const id of ids) {
    const run = of({ workflowId: `intent/${id}` })
    await run.untilBegun()
    results.set(id, await run.handle.result())
  }
  return (await storedIntents(databaseUrl, ids)).map(intent => ({ ...intent, run: results.get(intent.id) }))
}

/** The workflow ids of an owner's runs, one per run. */
export async function runsOf({ workflow }: Client, ownerId: string): Promise<string[]> {
  const ids: string[] = []
  for await (const { workflowId } of workflow.list({ query: `AgentPayOwner = '${ownerId}'` }))
    ids.push(workflowId)
  return ids.toSorted()
}
