import { z } from 'zod'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import type { Actor, Tenant } from '../contract/actor.ts'
import type { Row, Sql } from '../contract/sql.ts'

/** An entry of a timeline, the same for every kind of record. */
export const TimelineEntry = z
  .object({
    id: id('audit'),
    at: instant,
    event: z.string().meta({ examples: ['intent.approved'] }),
    action: z.string().meta({ description: 'The operation that caused it.', examples: ['intents.create'] }),
    resourceId: z.string().meta({ examples: ['intent_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
    amountEuros: euros.nullable().meta({ description: 'The amount that it is about.' }),
    reason: z.string().nullable().meta({ description: 'What was said about it, or why it came to nothing.' }),
    actorType: z.string().meta({ examples: ['agent'] }),
    actorId: z.string().nullable(),
    requestId: z.string(),
  })
  .meta({ id: 'TimelineEntry' })

type Entry = z.output<typeof TimelineEntry>

/** The actor comes from the audit trail, the instant from the event: it is in the tenant's time. */
const ENTRIES = `
select a.id, coalesce(e.created_at, a.at) as at, a.event, a.action, a.resource_id as "resourceId",
  ((e.data ->> 'amountEuros')::numeric * 100)::bigint as "amountEuros", e.data ->> 'reason' as reason,
  a.actor_type as "actorType", a.actor_id as "actorId", a.request_id as "requestId"
from audit_entries a
left join events e on (e.owner_id, e.mode, e.id) = (a.owner_id, a.mode, a.event_id)`

/** A delegation's token sees its own actions and the events of records made under the delegation. */
const OF_RUN = `${ENTRIES}
where (a.owner_id, a.mode, a.run_id) = ($1, $2, $3) and a.id > $4
  and ($6::text is null or a.actor_id = $7 or e.data ->> 'delegationId' = $6)
order by a.id limit $5`

const OF_RECORDS = `${ENTRIES}
where (a.owner_id, a.mode) = ($1, $2) and a.resource_id = any($3::text[]) and a.id > $4 order by a.id limit $5`

/** The entries of a run that the actor may see, oldest first: at most `most` after the id `after`. */
export const timelineOfRun = (
  sql: Sql,
  { ownerId, mode, id }: Tenant & { id: string },
  { delegationId = null, id: actorId }: Pick<Actor, 'delegationId' | 'id'>,
  after: string | undefined,
  most: number,
): Promise<Entry[]> => sql<Entry & Row>(OF_RUN, [ownerId, mode, id, after ?? '', most, delegationId, actorId])

/** The entries of these records, oldest first: at most `most` after the id `after`. */
export const timelineOfRecords = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
  after: string | undefined,
  most: number,
): Promise<Entry[]> => sql<Entry & Row>(OF_RECORDS, [ownerId, mode, ids, after ?? '', most])
