import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf } from './child.ts'

/** What a taking is, one call at a time: as most would write it, and as one statement that does it all. */
export type Manner = 'statements' | 'one statement'

const CLIENTS = 8

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

const scripts: Record<Manner, string> = {
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
}

const hasPgbench = (): boolean => spawnSync('pgbench', ['--version']).status === 0

interface Options {
  readonly databaseUrl: string
  readonly ownerId: string
  readonly folder: string
  readonly seconds: number
}

/** One call at a time, in the same run and the same database. */
export interface OneAtATime {
  readonly manner: Manner
  readonly pots: number
  readonly perSecond: number
}

/** Null where there is no pgbench. */
export async function oneAtATime(
  options: Options,
  potCounts: readonly number[],
): Promise<OneAtATime[] | null> {
  if (!hasPgbench()) return null
  const results: OneAtATime[] = []
  for (const manner of Object.keys(scripts) as Manner[])
    for (const pots of potCounts)
      results.push({ manner, pots, perSecond: await pgbench(manner, pots, options) })
  return results
}

/** Transactions a second of so many clients, each with one call under way. */
async function pgbench(manner: Manner, pots: number, options: Options): Promise<number> {
  const { databaseUrl, ownerId, folder, seconds } = options
  const script = join(folder, 'pgbench.sql')
  const draw = `\\set pot random(1, ${pots})\n\\set key random(1, 9000000000000000)\n`
  writeFileSync(script, `${draw}${scripts[manner]};\n`)
  const load = ['-c', CLIENTS, '-j', 2, '-T', seconds].map(String)
  const how = ['-n', '-M', 'prepared', ...load, '-D', `owner=${ownerId}`, '-f', script]
  const output = await outputOf('pgbench', [...how, databaseUrl])
  return Number(/tps = ([\d.]+)/.exec(output)?.[1])
}
