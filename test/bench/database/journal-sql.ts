/** The rows that every operation writes, as SQL; a pgbench script inserts one row at a time. */
export interface Insert {
  readonly into: string
  readonly rows: readonly string[]
}

interface About {
  readonly agent: string
  readonly data: string
}

const INTO = {
  event: `insert into events (id, owner_id, mode, agent_id, event, data, request_id, created_at, actor_type, actor_id,
    action, outcome, resource_id, address, recorded_at)`,
  answer: `insert into idempotency_keys (owner_id, mode, agent_id, operation, key, request_hash, status, body,
    error_code, reservation, created_at)`,
}

const eventOf = (name: string, action: string, { agent, data }: About): string =>
  `uuidv7()::text, :owner, 'test', ${agent}, '${name}', '${data}'::jsonb,
    gen_random_uuid()::text, now(), 'key', 'key_bench', '${action}', 'done', uuidv7()::text, '127.0.0.1', now()`

export const eventsOf = (action: string, events: readonly string[], about: About): readonly Insert[] => [
  { into: INTO.event, rows: events.map(name => eventOf(name, action, about)) },
]

export const journalOf = (
  action: string,
  events: readonly string[],
  about: About,
  body: string,
): readonly Insert[] => [
  ...eventsOf(action, events, about),
  {
    into: INTO.answer,
    rows: [`:owner, 'test', '', '${action}', 'key' || :key, 'hash', 201, '${body}', null, null, now()`],
  },
]

export const storedAnswerOf = (action: string): string => `select status, body from idempotency_keys
  where owner_id = :owner and mode = 'test' and agent_id = '' and operation = '${action}' and key = 'key' || :key`

const LOCK_KEY = `select pg_try_advisory_xact_lock(hashtextextended('key' || :key, 0))`

export const transaction = (statements: readonly string[]): string =>
  ['begin', ...statements, 'commit'].join(';\n')

/** A transaction of these statements, under an idempotency key. */
export const inTransaction = (action: string, statements: readonly string[]): string =>
  transaction([LOCK_KEY, storedAnswerOf(action), ...statements])

/** Creates the deliveries and pushes of an event; without subscriptions there are none. */
export const publish = (event: string, { data }: Pick<About, 'data'>): string => {
  const events = `jsonb_build_array(jsonb_build_object('id', uuidv7()::text, 'ownerId', :owner::text, 'mode', 'test',
    'event', '${event}', 'data', '${data}'::jsonb))`
  return `select publish_events(${events}, array[:owner::text]), publish_pushes(${events}, array[:owner::text]),
    publish_channel_messages(${events}, array[:owner::text])`
}

export const byValues = ({ into, rows }: Insert): string =>
  `${into} values ${rows.map(row => `(${row})`).join(', ')}`
const bySelect = ({ into, rows }: Insert, source: string): string =>
  `${into} ${rows.map(row => `select ${row} from ${source}`).join(' union all ')}`

/** A single statement of these parts, with the rows written once for each row of `source`. */
export function oneStatement(parts: readonly string[], written: readonly Insert[], source: string): string {
  const inserts = written.map(insert => bySelect(insert, source))
  const named = inserts.slice(0, -1).map((text, n) => `w${n} as (${text})`)
  return `with ${[...parts, ...named].join(',\n')}\n${inserts.at(-1)}`
}
