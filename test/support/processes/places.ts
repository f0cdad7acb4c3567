import type { Client } from '@temporalio/client'
import { rows } from '../rows.ts'
import type { runs } from '../temporal/runs.ts'

/** What PostgreSQL keeps of an intent. Names stand in their own order, and twice where a thing is there twice. */
export interface Kept {
  readonly id: string
  readonly status: string
  readonly events: readonly string[]
  readonly audit: readonly string[]
}

const KEPT = `
with told as (
  select data ->> 'intentId' as id, array_agg(event order by event) as events from events
  where event like 'intent.%' group by 1
), audited as (
  select resource_id as id, array_agg(event order by event) as audit from audit_entries
  where event like 'intent.%' group by 1
)
select json_build_object('id', id, 'status', status, 'events', events, 'audit', audit)
from intents left join told using (id) left join audited using (id)
where id = any($1::text[]) order by array_position($1, id)`

/** In the order of the ids. */
export const kept = async (databaseUrl: string, ids: readonly string[]): Promise<Kept[]> =>
  (await rows(databaseUrl, KEPT, [ids])) as Kept[]

/** Record, events, audit rows and what the run has ended with, when all the runs have. */
export async function fourPlaces(
  databaseUrl: string,
  { of }: Pick<Awaited<ReturnType<typeof runs>>, 'of'>,
  ids: readonly string[],
): Promise<(Kept & { readonly run: unknown })[]> {
  const ends = new Map<string, unknown>()
  // One after the other: Temporal has enough to do.
  for (const id of ids) {
    const run = of({ workflowId: `intent/${id}` })
    await run.begins()
    ends.set(id, await run.handle.result())
  }
  return (await kept(databaseUrl, ids)).map(one => ({ ...one, run: ends.get(one.id) }))
}

/** The workflow ids of all the runs of an owner, each as often as it has a run. */
export async function runsOf({ workflow }: Client, ownerId: string): Promise<string[]> {
  const ids: string[] = []
  for await (const { workflowId } of workflow.list({ query: `AgentPayOwner = '${ownerId}'` }))
    ids.push(workflowId)
  return ids.toSorted()
}
