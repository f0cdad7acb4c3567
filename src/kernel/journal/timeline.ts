import { z } from 'zod'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import type { Actor, Tenant } from '../contract/actor.ts'
import { pageSchemaOf, type RecordPage } from '../contract/page.ts'
import type { Row, Sql } from '../contract/sql.ts'
import { withMembers } from '../database/entity.ts'
import { withinCallSql } from './call-events.ts'

/** For answers that read the audit trail, of which old entries may have been purged. */
export const completeFromSchema = instant.nullable().meta({
  description:
    'The time before which entries were purged from the audit trail and are missing here. Null if none were.',
})

/** A purge removes nothing that was written at its instant or later. */
const PURGED = 'select max(before) as before from audit_purges where owner_id = $1 and mode = $2'

export async function readCompleteFrom(sql: Sql, { ownerId, mode }: Tenant): Promise<Date | null> {
  const [row] = await sql<{ before: Date | null } & Row>(PURGED, [ownerId, mode])
  return row?.before ?? null
}

export async function withCompleteFrom<T extends object>(page: Promise<T>, sql: Sql, tenant: Tenant) {
  const [shown, from] = await Promise.all([page, readCompleteFrom(sql, tenant)])
  return { ...shown, completeFrom: from }
}

/** The caller may be a key that brings what this person has signed. */
export const signingPersonSchema = id('person').nullable().meta({
  description: 'The person who signed with a passkey, acted in the console, or is the subject.',
})

const TimelineEntry = z
  .object({
    id: id('audit'),
    at: instant,
    event: z.string().meta({ examples: ['intent.approved'] }),
    action: z
      .string()
      .meta({ description: 'The operation that caused the entry.', examples: ['intents.create'] }),
    resourceId: z.string().meta({ examples: ['intent_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
    amountCents: moneySchema
      .nullable()
      .meta({ description: 'The amount. For a refund, the amount that came back.' }),
    reason: z.string().nullable().meta({ description: 'The comment, or the reason for the failure.' }),
    actorType: z.string().meta({ examples: ['agent'] }),
    actorId: z.string().nullable(),
    personId: signingPersonSchema,
    requestId: z.string(),
  })
  .meta({ id: 'TimelineEntry' })

export const TimelinePage = pageSchemaOf(TimelineEntry).extend({ completeFrom: completeFromSchema })

type Entry = z.output<typeof TimelineEntry>

type TimelineRow = Entry & { readonly auditId: string | null }

const ENTRIES = `
select id, audit_id as "auditId", created_at as at, event, action, resource_id as "resourceId",
  (coalesce(data ->> 'refundEuros', data ->> 'amountEuros')::numeric * 100)::bigint as "amountCents", data ->> 'reason' as reason,
  actor_type as "actorType", actor_id as "actorId", data ->> 'personId' as "personId", request_id as "requestId"
from`

/** A delegation's token sees its own actions and the events of records made under the delegation. */
const OF_RUN = `${ENTRIES} events
where (owner_id, mode, run_id) = ($1, $2, $3) and id > $4
  and ($6::text is null or actor_id = $7 or data ->> 'delegationId' = $6)
order by id limit $5`

/**
 * The first event of a call about a record leads to its others. The call of $4 may go on behind it. PostgreSQL
 * underestimates how many events a large owner has, and would read all of them instead of those of the record. No
 * index can use the owner and the mode when they are concatenated.
 */
const OF_RECORDS = `${ENTRIES} (
  select one.* from (
    select id as first_id, resource_id as of_record from events
    where owner_id || mode = $1 || $2 and resource_id = any($3::text[]) and not same_resource and id >= left($4, -2)
  ) first cross join lateral (
    select * from events
    where (owner_id, mode) = ($1, $2) and ${withinCallSql('id', 'first_id')} and (id = first_id or same_resource) offset 0
  ) one where one.resource_id = first.of_record
) events
where id > $4 order by id limit $5`

export const readTimelineOfRun = (
  sql: Sql,
  { ownerId, mode, id }: Tenant & { id: string },
  { delegationId = null, id: actorId }: Pick<Actor, 'delegationId' | 'id'>,
  after: string | undefined,
  most: number,
): Promise<TimelineRow[]> =>
  sql<TimelineRow & Row>(OF_RUN, [ownerId, mode, id, after ?? '', most, delegationId, actorId])

export const readTimelineOfRecords = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
  after: string | undefined,
  most: number,
): Promise<TimelineRow[]> => sql<TimelineRow & Row>(OF_RECORDS, [ownerId, mode, ids, after ?? '', most])

interface StoredEntry {
  readonly id: string
  /** Only of entries that were written before events and audit entries became one row. */
  readonly auditId: string | null
}

/** Audit entries have the ids of their events, with a prefix of their own. */
export const withAuditIds = <T extends StoredEntry, P extends RecordPage<T>>(page: P & RecordPage<T>) => ({
  ...page,
  data: page.data.map(entry =>
    withMembers(entry, { id: entry.auditId ?? entry.id.replace('event', 'audit') }),
  ),
})
