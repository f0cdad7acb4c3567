import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { onConnection } from '../../kernel/database/connection.ts'
import { type Database, sqlOfTransaction } from '../../kernel/database/prepared-sql.ts'
import { sqlStateOf } from '../../kernel/database/retry.ts'
import { readJournalHorizon, readSecondsBehind } from '../../kernel/journal/journal-position.ts'
import { merchantsOfSpends, spendDeltasSql } from './deltas.ts'
import {
  boundsCteSql,
  eventsWithinBoundsSql,
  positionBefore,
  positionParameters,
  SPEND_POSITION_COLUMNS,
  type SpendPosition,
  withinBoundsSql,
} from './position.ts'

const MOST = 10_000

const IS_BEHIND = 'exists (select from events where written_in >= (select written_in from spend_position))'

export const COUNTING_DUE_SQL = `select clock_timestamp() where ${IS_BEHIND}`

export const COUNTED_UP_TO_SQL = 'select written_in, event_id from spend_position'

export const countingBehindSeconds = (sql: Sql): Promise<number> => readSecondsBehind(sql, COUNTED_UP_TO_SQL)

/** Only the holder of the lock counts. Other processes skip, and try again later. */
const LOCK = `select ${SPEND_POSITION_COLUMNS} from spend_position for update skip locked`

const BOUNDS = boundsCteSql(1)

const oneOf = (table: 'transactions' | 'intents', alias: string, id: string): string => `
cross join lateral (
  select merchant from ${table} one where (one.owner_id, one.mode, one.id) = (${alias}.owner_id, ${alias}.mode, ${alias}.${id}) limit 1
) as named`

/**
 * The merchant texts of a step, with the merchants known for some. A null is an entry without a text that
 * counts; no row at all means that nothing in the step counts.
 */
const NAMES = `
with ${BOUNDS},
noted as materialized (
  select distinct owner_id, mode, resource_id, case when event like 'transaction.%' then 'paid' else event end as what
  from (${eventsWithinBoundsSql('', `event like 'transaction.%' or event in ('intent.completed', 'intent.denied', 'intent.expired')`)}) as e
)
select merchant as name from noted ${oneOf('transactions', 'noted', 'resource_id')} where what = 'paid'
union select merchant from noted ${oneOf('intents', 'noted', 'resource_id')} where what <> 'paid'
union select merchant from transaction_refunds r ${oneOf('transactions', 'r', 'transaction_id')} where ${withinBoundsSql('r', 'refund')}`

/** The merchants of texts are one JSON object: a step may have thousands, and a look-up by key does not scan them. */
const merchantOf = (name: string): string => `($7::jsonb ->> ${name})`

/**
 * The whole step in one statement: cells, states of transactions, and names of merchants. The lock excludes
 * other writers, so new rows are inserted without a conflict check.
 */
const COUNT = `
with ${BOUNDS},
${spendDeltasSql(() => '', undefined, merchantOf)},
counted as (
  insert into spend_counted (owner_id, mode, transaction_id, kind, cents, type, intent_id, rule, merchant)
  select s.owner_id, s.mode, s.id, s.kind, s.cents, s.type, s.intent_id, s.rule, coalesce(${merchantOf('s.name')}, '')
  from states s where not s.is_known and s.kind is not null
),
counted_again as (
  update spend_counted kept set kind = s.kind, cents = s.cents, type = s.type, intent_id = s.intent_id, rule = s.rule
  from states s
  where s.is_known and s.is_changed and (s.kind is not null or s.counted_kind is not null)
    and (kept.owner_id, kept.mode, kept.transaction_id) = (s.owner_id, s.mode, s.id)
),
named as (
  insert into merchant_names (owner_id, mode, merchant, name)
  select new.* from (
    select distinct d.owner_id, d.mode, ${merchantOf('d.name')} as merchant, d.name from deltas d
    where d.merchant is null and d.name <> '' and ${merchantOf('d.name')} is not null
  ) as new
  where (
    select count(*) from (
      select from merchant_names m where (m.owner_id, m.mode, m.merchant) = (new.owner_id, new.mode, new.merchant) limit 100
    ) as known) < 100
  on conflict do nothing
)
insert into spend_cells as kept (owner_id, mode, view, day, agent_id, run_id, value, payments, spent_cents, refunded_cents,
  fee_cents)
select owner_id, mode, view, day, agent_id, run_id, value, sum(payments), sum(spent_cents), sum(refunded_cents),
  sum(fee_cents)
from changes group by 1, 2, 3, 4, 5, 6, 7
having sum(payments) <> 0 or sum(spent_cents) <> 0 or sum(refunded_cents) <> 0 or sum(fee_cents) <> 0
on conflict (owner_id, mode, view, day, agent_id, run_id, value) do update set
  payments = kept.payments + excluded.payments, spent_cents = kept.spent_cents + excluded.spent_cents,
  refunded_cents = kept.refunded_cents + excluded.refunded_cents, fee_cents = kept.fee_cents + excluded.fee_cents`

const MOVE = 'update spend_position set written_in = $1, event_id = $2, refund_id = $3'

export async function isSpendCountBehind(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ isBehind: boolean }>(`select ${IS_BEHIND} as "isBehind"`)
  return row?.isBehind === true
}

/**
 * Counts what was committed after the position, and moves the position. Writes rows of many owners, as a
 * queue does: each database has one journal and one position. False if there is nothing to count or another
 * process is counting.
 */
async function countStep(sql: Sql, most: number): Promise<boolean> {
  const [since] = await sql<SpendPosition & Row>(LOCK)
  if (!since) return false
  const { writtenIn: horizon } = await readJournalHorizon(sql)
  if (horizon <= since.writtenIn) return false
  const until = await endOfStep(sql, since, horizon, most)
  const bounds = [...positionParameters(since), ...positionParameters(until)]
  const found = await sql<{ name: string | null }>(NAMES, bounds)
  const names = found.flatMap(({ name }) => name ?? [])
  const merchants = await merchantsOfSpends(names)
  const named = Object.fromEntries(names.map((name, n) => [name, merchants[n]]))
  if (found.length > 0) await sql(COUNT, [...bounds, JSON.stringify(named)])
  await sql(MOVE, positionParameters(until))
  return until.writtenIn < horizon
}

/** Another process has counted since the snapshot of this step was taken. */
const OVERTAKEN = '40001'
const TOOK_TOO_LONG = '57014'

interface Counting {
  readonly isStopping?: () => boolean
  readonly most?: number
}

/**
 * Runs steps until all committed changes are counted, each in a transaction with one snapshot: a crash within
 * or between steps loses nothing and counts nothing twice. A step that takes too long is repeated as a
 * shorter one.
 */
export async function countSpend(
  database: Database,
  { isStopping = () => false, most = MOST }: Counting = {},
): Promise<void> {
  let isMore = true
  let length = most
  while (isMore && !isStopping())
    isMore = await onConnection(database, 'begin isolation level repeatable read', async client => {
      const isBehind = await countStep(sqlOfTransaction(client), length)
      await client.query('commit')
      return isBehind
    }).catch(error => {
      if (sqlStateOf(error) === OVERTAKEN) return false
      if (sqlStateOf(error) !== TOOK_TOO_LONG || length === 1) throw error
      length = Math.ceil(length / 4)
      return true
    })
}

const UNTIL = `
select least($4::bigint,
  (select written_in from events where (written_in, id) > ($1::bigint, $2::text) and written_in < $4
    order by written_in, id offset $5::int limit 1),
  (select written_in from transaction_refunds where (written_in, id) > ($1, $3::bigint) and written_in < $4
    order by written_in, id offset $5 limit 1)) as until`

const PART = `
select coalesce((select max(id) from (
    select id from events where written_in = $1::bigint and id > $2::text order by id limit $4::int) as one), $2) as "eventId",
  coalesce((select max(id) from (
    select id from transaction_refunds where written_in = $1 and id > $3::bigint order by id limit $4) as one), $3) as "refundId"`

async function endOfStep(
  sql: Sql,
  { writtenIn, eventId, refundId }: SpendPosition,
  horizon: bigint,
  most: number,
): Promise<SpendPosition> {
  const from = [writtenIn, eventId, refundId]
  const [found] = await sql<{ until: bigint }>(UNTIL, [...from, horizon, most])
  const until = found?.until ?? horizon
  if (until > writtenIn) return positionBefore(until)
  const [part] = await sql<Omit<SpendPosition, 'writtenIn'>>(PART, [...from, most])
  return part ? { writtenIn, ...part } : positionBefore(writtenIn + 1n)
}
