import { afterAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { countSpend, isSpendCountBehind } from '../../../src/insight/spend/index.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectExact } from '../../support/insight/exact.ts'
import { aSpender, type SpendStep, stepsOn } from '../../support/insight/random-spends.ts'
import { bestOf } from '../../support/longest-turn.ts'
import { createTables, withConnection } from '../../support/rows.ts'
import { inTier } from '../../support/tier.ts'
import { until } from '../../support/until.ts'

const service = await startTestService({ own: true })
const pool = new pg.Pool({ connectionString: service.databaseUrl, max: 2 })
afterAll(() => pool.end())
const sql = sqlOn(pool)
const take = stepsOn(pool, service.databaseUrl)

/** All but what PostgreSQL generates. */
const COLUMNS = `
select string_agg(column_name, ', ' order by ordinal_position) as columns from information_schema.columns
where table_schema = current_schema() and table_name = 'transactions' and is_generated = 'NEVER'`

/** Copies card payments with their refunds, and as many refusals, within one transaction of the database. */
const atOnceSql = (columns: string): string => `
with origin as (select pg_current_xact_id()::text::bigint + added as written_in from journal_origin),
paid as (
  insert into transactions (${columns})
  select ${columns} from (
    select (jsonb_populate_record(null::transactions, to_jsonb(one) || jsonb_build_object('id', one.id || '_' || n,
      'refunded_cents', 7, 'merchant', 'Shop ' || n, 'intent_id', null))).*
    from (
      select * from transactions where owner_id = $1 and status = 'completed' and amount_cents > 7 and type = 'card' order by id limit 1
    ) as one, generate_series(1, $2::int) as n
  ) as copied
  returning id
),
noted as (
  select to_jsonb(e) as e, paid.id as resource_id from paid cross join lateral (
    select * from events where owner_id = $1 and event = 'transaction.completed' order by id limit 1
  ) as e
  union all
  select to_jsonb(e), e.resource_id from generate_series(1, $2::int) as n cross join lateral (
    select * from events where owner_id = $1 and event = 'intent.denied' order by id limit 1
  ) as e
)
insert into events
select (jsonb_populate_record(null::events, noted.e || jsonb_build_object('id', (noted.e ->> 'id') || '_' || row_number() over (),
  'resource_id', noted.resource_id, 'written_in', origin.written_in))).*
from noted, origin`

async function payAtOnce(ownerId: string, count: number): Promise<void> {
  const written = await withConnection(service.databaseUrl, async client => {
    const { rows } = await client.query<{ columns: string }>(COLUMNS)
    return client.query(atOnceSql(String(rows[0]?.columns)), [ownerId, count])
  })
  expect(written.rowCount).toBe(2 * count)
}

const firstOfAll: readonly SpendStep[] = [
  ['declare', 12],
  ['deny', 0],
  ['authorize', 0],
  ['clear', 0],
]

async function aCrowdOfPayments(count: number) {
  const spender = await aSpender(service)
  for (const next of firstOfAll) await take(spender, next)
  await countSpend({ pool })
  await payAtOnce(spender.ownerId, count)
  await nothingOlderIsOpen()
  return spender
}

/** A step counts nothing that an older transaction may precede, and other test files write to the same server. */
async function nothingOlderIsOpen(): Promise<void> {
  const [newest] = await service.sql<{ id: string }>('select pg_current_xact_id()::text as id')
  const HAVE_ENDED =
    'select pg_snapshot_xmin(pg_current_snapshot())::text::bigint > $1::bigint as "haveEnded"'
  await until('the transactions before the payments have ended', async () => {
    const [row] = await service.sql<{ haveEnded: boolean }>(HAVE_ENDED, [newest?.id])
    return row?.haveEnded
  })
}

describe('the sums of what was paid at once', () => {
  test('go on in bounded steps within a transaction that has made very many payments, whether or not a follower is killed', async () => {
    const spender = await aCrowdOfPayments(150)
    const written = `
      select 'e' || id as id, written_in from events union all select 'r' || id, written_in from transaction_refunds`
    const behind = async () => {
      const [{ count } = { count: 0 }] = await service.sql<{ count: number }>(
        `select count(*)::int from (${written}) as w, spend_position p where w.written_in > p.written_in
           or w.written_in = p.written_in and case left(w.id, 1) when 'e' then substr(w.id, 2) > p.event_id
             else substr(w.id, 2)::bigint > p.refund_id end`,
      )
      return count
    }
    const MOST = 40
    let steps = 0
    for (let left = await behind(); left > 0; steps++) {
      if (steps === 3) await take(spender, ['killed', 0])
      // The first step goes up to the transaction, the next ones are bounded by events and refunds.
      const { now } = await until('it goes on, where PostgreSQL itself is not just writing', async () => {
        let looked = 0
        await countSpend({ pool }, { most: MOST, isStopping: () => looked++ > 0 })
        const now = await behind()
        return steps === 0 || now < left ? { now } : undefined
      })
      expect(now).toBeLessThanOrEqual(left)
      expect(left - now).toBeLessThanOrEqual(2 * MOST)
      left = now
      await expectExact(service, sql, spender)
    }
    expect(steps).toBeGreaterThan(5)
  })

  test('are made in shorter steps where one takes too long', async () => {
    const spender = await aCrowdOfPayments(30)
    await createTables(
      service.databaseUrl,
      `create function takes_too_long() returns trigger language plpgsql as $$ begin
         if (select count(*) from counted) > 5 then raise query_canceled; end if;
         return null;
       end $$;
       create trigger takes_too_long after insert on spend_counted referencing new table as counted
         for each statement execute function takes_too_long()`,
    )
    try {
      await countSpend({ pool })
    } finally {
      await createTables(service.databaseUrl, 'drop function takes_too_long cascade')
    }
    expect(await isSpendCountBehind(sql)).toBe(false)
    await expectExact(service, sql, spender)
  })

  test('block no other request, for any number of uncounted merchant texts', async () => {
    const count = inTier(400, 4_000)
    const { client } = await aCrowdOfPayments(count)
    const ask = async () => {
      const { total } = await bodyOf(client.analytics.merchants())
      expect(total.count).toBe(count + 1)
    }
    expect(await bestOf(50, ask)).toBeLessThan(50)
  })
})
