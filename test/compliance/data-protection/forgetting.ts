import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { areas } from '../../../src/areas.ts'
import { columnToMember } from '../../../src/compliance/gdpr/record-pages.ts'
import { personalDataRegisterSql, retentionFunctionSql } from '../../../src/derive/personal-register.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { startTestService } from '../../support/harness.ts'
import {
  columnsOf,
  columnsWithMark,
  idsWithMark,
  MARK,
  MARKED_DATE,
  plant,
  plantStories,
  registered,
  type Stories,
} from './planted.ts'
import { unzipped } from './unzip.ts'

const CHECKS = `
select c.conrelid::regclass::text as table, c.conname as name, pg_get_expr(c.conbin, c.conrelid) as rule,
  a.attname as column, cardinality(c.conkey) = 1 as "isOfOne"
from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
where c.contype = 'c' and c.connamespace = 'public'::regnamespace and c.conparentid = 0 and c.coninhcount = 0`

interface Check {
  readonly table: string
  readonly name: string
  readonly rule: string
  readonly column: string
  readonly isOfOne: boolean
}

/** Its own database, since the constraints of its tables are dropped. */
const service = await startTestService({ own: true })

let dropped: Promise<Check[]> | undefined

/** The dropped constraints of the tables. */
function droppedChecks(): Promise<Check[]> {
  dropped ??= (async () => {
    const checks = await service.sql<Check>(CHECKS)
    for (const { table, name } of checks) await service.sql(`alter table ${table} drop constraint "${name}"`)
    return checks
  })()
  return dropped
}

async function archiveOf(key: string, id: string): Promise<Map<string, Buffer>> {
  const answer = await fetch(`${service.url}/gdpr/exports/${id}/archive`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(answer.status).toBe(200)
  return unzipped(Buffer.from(await answer.arrayBuffer()))
}

const isMarked = (value: unknown): boolean => {
  const text = JSON.stringify(value ?? null)
  return text.includes(MARK) || text.includes(MARKED_DATE)
}

/** The role of the service, on its own connection. */
async function asApplication(statements: readonly string[], values: unknown[] = []): Promise<string[]> {
  const client = new pg.Client(service.databaseUrl)
  await client.connect()
  await client.query('set role agentpay_application')
  const answers: string[] = []
  for (const text of statements)
    answers.push(
      await client
        .query(text, text.includes('$1') ? values : [])
        .then(() => 'done')
        .catch(({ message }: Error) => message),
    )
  await client.end()
  return answers
}

const requestOf = (status: string, begins: string) => `
insert into gdpr_deletions (owner_id, mode, id, created_at, updated_at, status, subject_type, subject_id, answer_by, begins_at,
  due_at, workflow_id)
values ($1, 'live', gen_random_uuid()::text, now(), now(), '${status}', 'owner', $1, now(), now() + interval '${begins}', now(), 'w')`

describe('the role of the service', () => {
  test('cannot erase data before seven days or before the retention term, and cannot change entries itself', async () => {
    const { ownerId } = await service.owner()
    const answers = await asApplication(
      [
        requestOf('requested', '0 days'),
        requestOf('forgetting', '8 days'),
        requestOf('requested', '7 days'),
        'update gdpr_deletions set begins_at = now() where owner_id = $1',
        "update gdpr_deletions set status = 'forgetting' where owner_id = $1",
        `select forget_next(owner_id, mode, id, now() + interval '9 days', 10) from gdpr_deletions where owner_id = $1`,
        "update gdpr_deletions set status = 'completed', completed_at = '2000-01-01' where owner_id = $1",
        "update gdpr_deletions set status = 'completed', completed_at = now() where owner_id = $1",
        "update gdpr_deletions set completed_at = now() - interval '1 minute' where owner_id = $1",
        "select forget_columns(g, 'decisions', now(), null, 10) from gdpr_deletions g where owner_id = $1",
        "select set_config('agentpay.forgetting', 'on', false)",
        'update events set address = null where owner_id = $1',
        'delete from gdpr_deletions where owner_id = $1',
      ],
      [ownerId],
    )
    expect(answers).toEqual([
      expect.stringContaining('would begin too early'),
      expect.stringContaining('would begin too early'),
      'done',
      expect.stringContaining('is about somebody else'),
      'done',
      'nothing is forgotten before a deletion has begun',
      expect.stringContaining('was completed at another time'),
      'done',
      expect.stringContaining('was completed at another time'),
      'permission denied for function forget_columns',
      'done',
      'permission denied for table events',
      'permission denied for table gdpr_deletions',
    ])
  })
})

describe('the register in the database', () => {
  test.each([
    ['personal_register', personalDataRegisterSql],
    ['kept_while', retentionFunctionSql],
  ])('is what the nouns say of their columns: %s', (name, written) => {
    const file = new URL(`../../../src/migrations/functions/${name}.sql`, import.meta.url)
    // `npm run openapi` writes it.
    expect(readFileSync(file, 'utf8')).toBe(written(areas))
  })
})

describe('who has only acted', () => {
  test('is forgotten as that, and what they did stays', () => {
    const register = personalDataRegisterSql(areas)
    expect(register).toContain(
      `('policy_versions', 'owner_id', 'rules', 'empty', null::text, 0, '{}'::jsonb)`,
    )
    expect(register).toMatch(/'card_requests', 'owner_id', 'answered_by', .*"person":\["answered_by/)
    expect(register).toContain(`('card_requests', 'owner_id', 'reason', 'word', null::text, 0, '{}'::jsonb)`)
    expect(register).toMatch(/'access_events', 'owner_id', 'address', .*"person":\["actor_id"\]/)
  })
})

describe('forgetting an owner with something in every column of the register', () => {
  let ownerId: string
  let checks: Check[]
  let left: readonly string[][]
  let shown: Map<string, Buffer>
  let again: unknown
  let broken: string[]

  beforeAll(async () => {
    const owner = await service.owner()
    ;({ ownerId } = owner)
    const { body } = await service.http('POST', '/gdpr/deletions', { token: owner.key, body: {} })
    checks = await droppedChecks()
    const client = new pg.Client(service.databaseUrl)
    await client.connect()
    await client.query('set session_replication_role = replica')
    const plain = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows
    const made = await service.http('POST', '/gdpr/exports', { token: owner.key, body: {} })
    await service.http('POST', '/simulate/clock/advance', { token: owner.key, body: { seconds: 1 } })
    await plant(plain, ownerId)
    await client.query("update customers set status = 'active' where id = $1", [ownerId])
    shown = await archiveOf(owner.key, made.body.id)
    await sealTrail(service)
    await client.query("update gdpr_deletions set status = 'forgetting' where id = $1", [body.id])
    await client.query('set session_replication_role = origin')
    const forget = async (at: string) => {
      const values = [ownerId, body.id, at]
      const text = "select records, state from forget_next($1, 'test', $2, $3, 10000)"
      return (await plain(text, values))[0]
    }
    const before = await columnsWithMark(plain)
    await forget('2030-06-01T00:00:00Z')
    const after = await columnsWithMark(plain)
    again = await forget('2030-06-01T00:00:00Z')
    await client.query(
      "update gdpr_deletions set status = 'completed', completed_at = '2030-06-01T00:00:00Z' where id = $1",
      [body.id],
    )
    await forget('2033-12-31T23:59:59Z')
    const beforeClaimsEnd = await columnsWithMark(plain)
    await forget('2039-01-01T00:00:00Z')
    left = [before, after, beforeClaimsEnd, await columnsWithMark(plain)]
    const own = checks.filter(
      ({ table, column, isOfOne }) => isOfOne && registered.get(table)?.personal[column],
    )
    broken = []
    for (const { table, name, rule } of own)
      if ((await plain(`select from ${table} where not (${rule})`)).length > 0) broken.push(name)
    await client.end()
  })

  test('begins with a mark in each of them', () => {
    expect(left[0]).toEqual([...columnsOf(true), ...columnsOf(false)].sort())
  })

  test('comes after an export that shows all of them', () => {
    const hidden = [...registered].flatMap(([table, { personal }]) => {
      const [, content] = [...shown].find(([name]) => name.endsWith(`/${table}.json`)) ?? []
      const records: Record<string, unknown>[] = JSON.parse(String(content ?? '{"records":[]}')).records
      return Object.keys(personal)
        .filter(column => !records.some(record => isMarked(record[columnToMember(column)])))
        .map(column => `${table}.${column}`)
    })
    expect(hidden).toEqual([])
  })

  test('leaves what the law keeps, and nothing else, in any column of any table', () => {
    expect(left[1]).toEqual(columnsOf(true))
    expect(again).toEqual({ records: 0, state: 'done' })
  })

  test('leaves that until the last day of its last year, and nothing from then on', () => {
    expect(left[2]).toEqual(left[1])
    expect(left[3]).toEqual([])
  })

  test('leaves in each column what its own rules allow', () => {
    expect(broken).toEqual([])
  })
})

const AT = '2026-01-01T00:00:00Z'

/**
 * For each table with `keptWhile` records that are kept, such as a `paid` one, and others, such as an `unpaid` one. A record
 * about another one has that one's id.
 */
const STORIES: Stories = {
  payment_requests: {
    paid: { status: 'paid', paid_cents: 100 },
    late: { status: 'expired', surplus_cents: 100 },
    open: { status: 'open' },
    unpaid: { status: 'expired' },
    cancelled: { status: 'cancelled' },
  },
  request_payments: {
    paid: { status: 'received' },
    open: { status: 'under_way' },
    unpaid: { status: 'failed' },
  },
  mpp_settlements: {
    paid: { status: 'paid' },
    open: { status: 'charging' },
    unpaid: { status: 'declined' },
  },
  payment_tokens: {
    paid: { status: 'charged' },
    open: { status: 'active' },
    unpaid: { status: 'revoked' },
    denied: { status: 'denied' },
  },
  fundings: { paid: { status: 'settled' }, returned: { status: 'reversed' }, unpaid: { status: 'failed' } },
  transfers: {
    paid: { status: 'completed', submitted_at: AT },
    rejected: { status: 'rejected', submitted_at: AT },
    unpaid: { status: 'cancelled' },
  },
  sepa_notices: { paid: {}, rejected: {}, unpaid: {} },
  refunds: {
    paid: { status: 'completed', arrived_cents: 100, completed_at: AT },
    returned: { status: 'failed', completed_at: AT },
    open: { status: 'pending' },
    unpaid: { status: 'cancelled' },
  },
  receipts: {
    paid: { status: 'matched', transaction_id: 'paid' },
    mismatch: { status: 'mismatch', transaction_id: 'paid' },
    unpaid: { status: 'unmatched' },
  },
  mpp_credentials: {
    paid: { status: 'consumed', transaction_id: 'paid' },
    open: { status: 'indeterminate' },
    void: { status: 'void' },
  },
  card_authorizations: {
    paid: { status: 'cleared', cleared_cents: 100, transaction_id: 'paid', intent_id: 'paid' },
    late: { status: 'declined', cleared_cents: 100, transaction_id: 'late', intent_id: 'late' },
    reversed: { status: 'reversed', transaction_id: 'reversed' },
    void: { status: 'void', intent_id: 'void' },
    unpaid: { status: 'declined', transaction_id: 'unpaid', intent_id: 'unpaid' },
  },
  card_messages: Object.fromEntries(
    ['paid', 'late', 'reversed', 'void', 'unpaid'].map(id => [id, { authorization_id: id }]),
  ),
  transactions: {
    paid: { status: 'completed' },
    rejected: { status: 'declined', transfer_id: 'rejected' },
    late: { status: 'declined' },
    reversed: { status: 'declined' },
    unpaid: { status: 'declined' },
  },
  intents: {
    paid: { status: 'completed', transaction_id: 'paid' },
    open: { status: 'approved' },
    late: { status: 'expired' },
    void: { status: 'cancelled' },
    unpaid: { status: 'cancelled' },
    denied: { status: 'denied' },
  },
  decisions: { paid: {}, late: {}, reversed: {}, open: {}, void: {}, unpaid: {}, denied: {} },
  approvals: { paid: {}, late: {}, open: {}, void: {}, unpaid: {} },
  recorded_approvals: { paid: {}, late: {}, open: {}, void: {}, unpaid: {} },
  approval_openings: { paid: {}, late: {}, open: {}, void: {}, unpaid: {} },
  evidence: Object.fromEntries(
    ['paid', 'late', 'open', 'void', 'unpaid', 'denied'].map(id => [id, { intent_id: id }]),
  ),
  people: {
    joined: { email: null, status: 'active', joined_at: AT },
    removed: { email: null, status: 'removed', joined_at: AT, removed_at: AT },
    invited: { email: null, status: 'invited' },
    cancelled: { email: null, status: 'removed', removed_at: AT },
  },
}
const UNPAID = ['unpaid', 'cancelled', 'denied', 'void', 'invited']

describe('what the law has kept of an owner', () => {
  const left = new Map<string, string[]>()

  beforeAll(async () => {
    const owner = await service.owner()
    const { ownerId } = owner
    const { body } = await service.http('POST', '/gdpr/deletions', { token: owner.key, body: {} })
    await droppedChecks()
    const client = new pg.Client(service.databaseUrl)
    await client.connect()
    const sql = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows
    await sql('set session_replication_role = replica')
    await plantStories(sql, ownerId, STORIES)
    await sql("update gdpr_deletions set status = 'forgetting' where id = $1", [body.id])
    await sql('set session_replication_role = origin')
    await sql("select forget_next($1, 'test', $2, '2030-06-01T00:00:00Z', 10000)", [ownerId, body.id])
    for (const table of Object.keys(STORIES)) left.set(table, await idsWithMark(sql, ownerId, table))
    await client.end()
  })

  test('is listed for each table that keeps only a part of its records', () => {
    const tables = [...registered].flatMap(([table, { keptWhile: kept }]) => (kept ? [table] : []))
    expect(Object.keys(STORIES).sort()).toEqual(tables.sort())
  })

  test.each(Object.keys(STORIES))('in %s is each record that it requires, and no other', table => {
    const planted = Object.keys(STORIES[table] ?? {})
    expect(left.get(table)).toEqual(planted.filter(id => !UNPAID.includes(id)).sort())
  })
})
