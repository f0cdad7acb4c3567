import type { Sql } from '../../kernel/contract/sql.ts'
import { onConnection } from '../../kernel/database/connection.ts'
import { type Database, sqlOfTransaction } from '../../kernel/database/prepared-sql.ts'
import { codeOf } from '../../kernel/database/retry.ts'
import { currentHorizon } from '../../kernel/journal/journal-position.ts'
import { deltas } from './deltas.ts'
import { merchantOf } from './merchant.ts'

/** How many events one step goes over: it is short, and a reader waits for none. */
const MOST = 10_000

const IS_BEHIND = `
select exists (select from events where written_in >= (select written_in from spend_position)) as "isBehind"`

/** Whoever has it locked is the one who counts; another one comes back later. */
const LOCK = 'select written_in as since from spend_position for update skip locked'

/** Up to which transaction a step goes: a transaction is counted whole. */
const UNTIL = `
select greatest($1::bigint + 1, least($2::bigint, coalesce(
  (select written_in from events where written_in >= $1 and written_in < $2 order by written_in offset $3 limit 1), $2)
)) as until`

const BOUNDS = 'bounds as materialized (select $1::bigint as since, $2::bigint as until)'

const NEW_NAMES = `
with ${BOUNDS}, names (name, merchant) as (select null::text, null::text where false), ${deltas(() => '')}
select distinct d.name from deltas d where d.merchant is null and d.name <> ''`

/** All of a step in one statement: cells, how transactions are counted, and the names of merchants. */
const COUNT = `
with ${BOUNDS},
names (name, merchant) as materialized (select * from unnest($3::text[], $4::text[])),
${deltas(() => '')},
counted as (
  insert into spend_counted as kept (owner_id, mode, transaction_id, kind, cents, type, intent_id, rule, merchant)
  select s.owner_id, s.mode, s.id, s.kind, s.cents, s.type, s.intent_id, s.rule, coalesce(s.merchant, n.merchant, '')
  from states s left join names n on n.name = s.name
  where (s.kind is not null or s.counted_kind is not null) and (s.counted_kind, s.counted_cents, s.counted_type,
      s.counted_intent_id) is distinct from (s.kind, s.cents, s.type, s.intent_id)
  on conflict (owner_id, mode, transaction_id) do update set kind = excluded.kind, cents = excluded.cents,
    type = excluded.type, intent_id = excluded.intent_id, rule = excluded.rule
),
named as (
  insert into merchant_names (owner_id, mode, merchant, name)
  select distinct d.owner_id, d.mode, n.merchant, d.name from deltas d join names n on n.name = d.name
  where d.merchant is null and d.name <> '' and (
    select count(*) from (
      select from merchant_names m where (m.owner_id, m.mode, m.merchant) = (d.owner_id, d.mode, n.merchant) limit 100
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

const MOVE = 'update spend_position set written_in = $1'

/** Whether anything was written since the last step: nothing is locked to find out. */
export async function isBehind(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ isBehind: boolean }>(IS_BEHIND)
  return row?.isBehind === true
}

/**
 * Takes a step: counts what was committed behind the position, and moves that. It touches rows of many owners, as a queue
 * does: each database has a journal, and one position in it. False where there is nothing, or another one is counting.
 */
async function countStep(sql: Sql, most: number): Promise<boolean> {
  const [position] = await sql<{ since: bigint }>(LOCK)
  if (!position) return false
  const { since } = position
  const { writtenIn: horizon } = await currentHorizon(sql)
  if (horizon <= since) return false
  const [bounds] = await sql<{ until: bigint }>(UNTIL, [since, horizon, most])
  const until = bounds?.until ?? since
  const names = (await sql<{ name: string }>(NEW_NAMES, [since, until])).map(({ name }) => name)
  await sql(COUNT, [since, until, names, names.map(merchantOf)])
  await sql(MOVE, [until])
  return until < horizon
}

/** Another one has counted since the snapshot of this step was taken. */
const OVERTAKEN = '40001'

/**
 * Takes steps until what was committed is counted, each in a transaction with one snapshot: killed in the middle of one,
 * or between two, nothing is lost or counted twice.
 */
export async function countSpend(
  database: Database,
  { isStopping = () => false, most = MOST }: { isStopping?: () => boolean; most?: number } = {},
): Promise<void> {
  let isMore = true
  while (isMore && !isStopping())
    isMore = await onConnection(database, 'begin isolation level repeatable read', async client => {
      const isBehind = await countStep(sqlOfTransaction(client), most)
      await client.query('commit')
      return isBehind
    }).catch(error => {
      if (codeOf(error) === OVERTAKEN) return false
      throw error
    })
}
