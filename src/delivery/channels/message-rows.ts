import type { Mode } from '../../kernel/contract/actor.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { newId } from '../../values/ids.ts'

/** What a message is about: a question to approvers, a recovery to stop, a channel's code, or a person's link. */
export type MessageKind =
  | 'intent'
  | 'card_request'
  | 'change_request'
  | 'transfer'
  | 'recovery'
  | 'code'
  | 'link'

export interface MessageSubject {
  readonly kind: MessageKind
  readonly subjectId: string
  readonly channelId: string | null
  readonly personId: string
}

export interface ChannelMessage extends MessageSubject, Row {
  readonly ownerId: string
  readonly mode: Mode
  readonly id: string
  readonly attempts: number
  /** Its place among the person's messages of an hour, from the first attempt on. */
  readonly place: number | null
}

const columns = (of = ''): string =>
  `${of}owner_id as "ownerId", ${of}mode, ${of}id, ${of}kind, ${of}subject_id as "subjectId", ${of}channel_id as "channelId",
  ${of}person_id as "personId", ${of}attempts, ${of}place`

const QUEUE = `
insert into channel_messages (owner_id, mode, id, kind, subject_id, channel_id, person_id, created_at, due_at)
values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp(), clock_timestamp())`

/** Messages of events are made by `publish_channel_messages`. */
export function queueMessage(
  { kind, subjectId, channelId, personId }: MessageSubject,
  { sql, tenant: { ownerId, mode }, queueStatement }: WriteContext,
): void {
  const values = [ownerId, mode, newId('message'), kind, subjectId, channelId, personId]
  queueStatement(sql(QUEUE, values))
  queueStatement(sql(`select pg_notify('channel_messages', '')`, []))
}

/** The oldest of each owner who is not busy. The index skips from one owner to the next, so that a long queue holds up no other. */
const CLAIM = `
with recursive waiting as (
  (select owner_id from channel_messages order by owner_id limit 1)
  union all
  select (select m.owner_id from channel_messages m where m.owner_id > w.owner_id order by m.owner_id limit 1)
  from waiting w where w.owner_id is not null
), due as (
  select one.owner_id, one.mode, one.id, row_number() over (partition by one.owner_id order by one.mode, one.id) as nth
  from waiting w cross join lateral (
    select owner_id, mode, id from channel_messages
    where owner_id = w.owner_id and due_at <= clock_timestamp()
      and (leased_until is null or leased_until <= clock_timestamp())
    order by owner_id, mode, id limit $1) one
  where w.owner_id <> all($4::text[])
)
update channel_messages m
set leased_by = $3, leased_until = clock_timestamp() + interval '2 minutes', attempts = m.attempts + 1
where (m.owner_id, m.mode, m.id) in (
  select one.owner_id, one.mode, one.id from due join channel_messages one using (owner_id, mode, id)
  where one.leased_until is null or one.leased_until <= clock_timestamp()
  order by nth limit $2 for update of one skip locked)
returning ${columns('m.')}`

interface Room {
  readonly busyOwners: readonly string[]
  readonly ofOwner: number
  readonly ofAll: number
}

export const claimMessages = (
  sql: Sql,
  { busyOwners, ofOwner, ofAll }: Room,
  lease: string,
): Promise<ChannelMessage[]> => sql<ChannelMessage>(CLAIM, [ofOwner, ofAll, lease, busyOwners])

const keyOf = ({ ownerId, mode, id }: ChannelMessage) => [ownerId, mode, id]

export const deleteMessage = (sql: Sql, message: ChannelMessage): Promise<unknown> =>
  sql('delete from channel_messages where (owner_id, mode, id) = ($1, $2, $3)', keyOf(message))

export const retryMessage = (sql: Sql, message: ChannelMessage, waitMs: number): Promise<unknown> =>
  sql(
    `update channel_messages set due_at = clock_timestamp() + $4 * interval '1 millisecond', leased_by = null, leased_until = null
     where (owner_id, mode, id) = ($1, $2, $3)`,
    [...keyOf(message), waitMs],
  )

/** What is given up: after an hour a question is in the inbox, and a code has expired. */
const DELETE_OLD = `
delete from channel_messages where created_at < clock_timestamp() - interval '1 hour'
returning ${columns()}`

export const deleteOldMessages = (sql: Sql): Promise<ChannelMessage[]> => sql<ChannelMessage>(DELETE_OLD, [])

export const MESSAGES_DUE_SQL = 'select due_at from channel_messages order by due_at limit 1'

/** `publish_channel_messages` knows the limit of questions. The others are about access, which an agent must not crowd out. */
const HOURLY_LIMITS = { questions: 20, access: 10 } as const

const limitKindOf = ({ kind }: Pick<MessageSubject, 'kind'>): keyof typeof HOURLY_LIMITS =>
  kind === 'recovery' || kind === 'code' || kind === 'link' ? 'access' : 'questions'

export const isLastQuestion = (message: Pick<MessageSubject, 'kind'>, place: number): boolean =>
  limitKindOf(message) === 'questions' && place === HOURLY_LIMITS.questions

/** Counts and marks the message in one statement, so that each attempt after the first one is free. */
const TAKE_PLACE = `
with taken as (
  insert into channel_hours as h (owner_id, mode, person_id, kind, hour, used)
  values ($1, $2, $4, $5, date_trunc('hour', clock_timestamp(), 'UTC'), 1)
  on conflict (owner_id, mode, person_id, kind, hour) do update set used = h.used + 1 where h.used < $6
  returning used
)
update channel_messages set place = taken.used from taken where (owner_id, mode, id) = ($1, $2, $3)
returning place`

/** Undefined if the person gets no more messages in this hour. */
export async function takePlace(sql: Sql, message: ChannelMessage): Promise<number | undefined> {
  if (message.place !== null) return message.place
  const kind = limitKindOf(message)
  const values = [...keyOf(message), message.personId, kind, HOURLY_LIMITS[kind]]
  return (await sql<Row & { place: number }>(TAKE_PLACE, values))[0]?.place
}
