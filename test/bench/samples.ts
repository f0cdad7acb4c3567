import { POT_TABLES } from '../support/sample-noun.ts'
import { type Alone, KEY } from './database/pgbench.ts'
import { type Stage, withClient } from './stage.ts'

export const POTS = 1_000

/** Full enough to never be empty. */
export const fillPots = (stage: Stage): Promise<void> =>
  withClient(stage, async client => {
    await client.query(POT_TABLES)
    await client.query(
      `insert into pots select 'pot_' || n, $1, 'test', 1000000000 from generate_series(1, ${POTS}) as n`,
      [stage.ownerId],
    )
    await client.query('vacuum analyze pots')
  })

const values = {
  taking: `uuidv7()::text, :owner, 'test', 'pot_' || :pot, 1`,
  event: `uuidv7()::text, :owner, 'test', null, 'pot.taken',
    jsonb_build_object('potId', 'pot_' || :pot, 'amount', 1), gen_random_uuid()::text, now()`,
  audit: `uuidv7()::text, :owner, 'test', 'key', 'key_bench', 'pots.take', 'pot.taken', 'done',
    'pot_' || :pot, null, gen_random_uuid()::text, '127.0.0.1', now()`,
  kept: `:owner, 'test', '', 'pots.take', 'key' || :key, 'hash', 201,
    '{"id":"taking_01kagp6mybf2ktzn5dx2q8fjzd","potId":"pot_1","amount":1,"left":1000000}', null, null, now()`,
}

const insert = {
  taking: `insert into takings (id, owner_id, mode, pot_id, amount)`,
  event: `insert into events (id, owner_id, mode, agent_id, event, data, request_id, created_at)`,
  audit: `insert into audit_entries (id, owner_id, mode, actor_type, actor_id, action, event, outcome, resource_id,
    agent_id, request_id, address, at)`,
  kept: `insert into idempotency_keys (owner_id, mode, agent_id, operation, key, request_hash, status, body,
    error_code, reservation, created_at)`,
}

const known = `select status, body from idempotency_keys
  where owner_id = :owner and mode = 'test' and agent_id = '' and operation = 'pots.take' and key = 'key' || :key`
const locked = `select id, left_over from pots
  where owner_id = :owner and mode = 'test' and id = 'pot_' || :pot for update`
const changed = `update pots set left_over = left_over - 1 where id = 'pot_' || :pot`

const rows = ['taking', 'event', 'audit', 'kept'] as const

/** A taking without us, from so many pots. */
export const takingAlone = (pots: number): Alone => ({
  draw: [`pot random(1, ${pots})`, KEY],
  scripts: {
    statements: [
      'begin',
      `select pg_try_advisory_xact_lock(hashtextextended('key' || :key, 0))`,
      known,
      locked,
      changed,
      ...rows.map(row => `${insert[row]} values (${values[row]})`),
      'commit',
    ].join(';\n'),
    'one statement': `with k as (${known}), pot as (${locked}), changed as (
      update pots set left_over = left_over - 1 where id in (select id from pot) and not exists (select from k)
      returning id
    ), ${rows
      .slice(0, -1)
      .map(row => `${row} as (${insert[row]} select ${values[row]} from changed)`)
      .join(',\n')}
    ${insert.kept} select ${values.kept} from changed`,
  },
})
