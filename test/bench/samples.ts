import { SAMPLE_TABLES } from '../support/sample-noun.ts'
import { KEY, type SqlEquivalent } from './database/pgbench.ts'
import { type Stage, withClient } from './stage.ts'

export const SAMPLES = 1_000

/** Creates samples with a balance that no load exhausts. */
export const fillSamples = (stage: Stage): Promise<void> =>
  withClient(stage, async client => {
    await client.query(SAMPLE_TABLES)
    await client.query(
      `insert into samples select 'sample_' || n, $1, 'test', 1000000000 from generate_series(1, ${SAMPLES}) as n`,
      [stage.ownerId],
    )
    await client.query('vacuum analyze samples')
  })

const values = {
  withdrawal: `uuidv7()::text, :owner, 'test', 'sample_' || :sample, 1`,
  event: `uuidv7()::text, :owner, 'test', null, 'sample.withdrawn',
    jsonb_build_object('sampleId', 'sample_' || :sample, 'amount', 1), gen_random_uuid()::text, now(), 'key', 'key_bench',
    'samples.withdraw', 'done', 'sample_' || :sample, '127.0.0.1', now()`,
  kept: `:owner, 'test', '', 'samples.withdraw', 'key' || :key, 'hash', 201,
    '{"id":"taking_01kagp6mybf2ktzn5dx2q8fjzd","sampleId":"sample_1","amount":1,"left":1000000}', null, null, now()`,
}

const insert = {
  withdrawal: `insert into withdrawals (id, owner_id, mode, sample_id, amount)`,
  event: `insert into events (id, owner_id, mode, agent_id, event, data, request_id, created_at, actor_type, actor_id,
    action, outcome, resource_id, address, recorded_at)`,
  kept: `insert into idempotency_keys (owner_id, mode, agent_id, operation, key, request_hash, status, body,
    error_code, reservation, created_at)`,
}

const storedAnswer = `select status, body from idempotency_keys
  where owner_id = :owner and mode = 'test' and agent_id = '' and operation = 'samples.withdraw' and key = 'key' || :key`
const lockedSample = `select id, balance from samples
  where owner_id = :owner and mode = 'test' and id = 'sample_' || :sample for update`
const changedSample = `update samples set balance = balance - 1 where id = 'sample_' || :sample`

const rows = ['withdrawal', 'event', 'kept'] as const

export const withdrawInSql = (samples: number): SqlEquivalent => ({
  draw: [`sample random(1, ${samples})`, KEY],
  scripts: {
    statements: [
      'begin',
      `select pg_try_advisory_xact_lock(hashtextextended('key' || :key, 0))`,
      storedAnswer,
      lockedSample,
      changedSample,
      ...rows.map(row => `${insert[row]} values (${values[row]})`),
      'commit',
    ].join(';\n'),
    'one statement': `with k as (${storedAnswer}), sample as (${lockedSample}), changed as (
      update samples set balance = balance - 1 where id in (select id from sample) and not exists (select from k)
      returning id
    ), ${rows
      .slice(0, -1)
      .map(row => `${row} as (${insert[row]} select ${values[row]} from changed)`)
      .join(',\n')}
    ${insert.kept} select ${values.kept} from changed`,
  },
})
