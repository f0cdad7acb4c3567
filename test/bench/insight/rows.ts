import { AGENTS, fillAgents } from '../database/intent-rows.ts'
import { type Stage, withClient } from '../stage.ts'

/**
 * Three agents that pay nine shops a day for a year, two hundred in all: one payment per cell with ten
 * thousand, a thousand with ten million. Two shops are paid daily, three on their weekday, and four in turn.
 */
export const DAYS = 365
const DAILY = 2
const WEEKLY = 3
const IN_TURN = 4
const SHOPS = 200

const SHOP = `case
    when place < ${DAILY} then place
    when place < ${DAILY + WEEKLY} then ${DAILY} + ago % 7 * ${WEEKLY} + place - ${DAILY}
    else ${DAILY + 7 * WEEKLY} + (ago * ${IN_TURN} + place - ${DAILY + WEEKLY}) % ${SHOPS - DAILY - 7 * WEEKLY} end`

/** Indexes that no report uses: with them, ten million rows would take an hour. */
const UNUSED = `
drop index if exists transactions_of_transfer, transactions_by_agent, transactions_by_wallet, transactions_by_merchant, transactions_by_folded_merchant`

const PAYMENTS = `
insert into transactions (id, owner_id, mode, created_at, updated_at, agent_id, wallet_id, type, status, currency,
  amount_cents, refunded_cents, merchant, mcc, country, witnesses)
select 'txn_bench_' || lpad(n::text, 12, '0'), $1, 'test', at, at, agent, 'wallet' || substr(agent, 6), 'card', 'completed', 'EUR',
  1000 + n % 997, 0, 'Shop ' || ${SHOP}, '5942', 'DE', '[]'
from generate_series($2::int, $3::int) as n,
  lateral (select 'agent_bench_' || n % 3 + 1 as agent, n % 27 / 3 as place, n / 27 % ${DAYS} as ago) as one,
  lateral (select (current_date - ago)::timestamp at time zone 'UTC' + n % 1440 * interval '1 second' as at) as other`

/** The sums as the follower creates them, in one pass. */
const CELLS = `
insert into spend_cells
select owner_id, mode, v.view, (created_at at time zone 'UTC')::date, agent_id, '', v.value, count(*), sum(amount_cents), 0, 0
from transactions, lateral (values ('agent', ''), ('merchant', lower(merchant)), ('mcc', mcc), ('wallet', wallet_id),
  ('type', type), ('run', '')) as v (view, value)
group by 1, 2, 3, 4, 5, 6, 7`

/** Declined amounts of five rules on each day of the last two months. */
const KEPT_BACK = `
insert into spend_cells
select $1, 'test', 'kept_back', current_date - ago, 'agent_bench_' || n % 3 + 1, '', 'denied rule' || n % 5, 1, 1500, 0, 0
from generate_series(0, 59) as ago, generate_series(0, 14) as n`

/** The newest payments belong to intents, four fifths of which have an outcome. */
const INTENTS = 500

const DECLARED = `
insert into intents (id, owner_id, mode, created_at, updated_at, agent_id, status, amount_cents, currency, merchant, mcc,
  purpose, expires_at, decided_at, decided_by, decision, transaction_id, metadata)
select 'intent_bench_' || id, owner_id, mode, created_at, created_at, agent_id, 'completed', amount_cents, currency, merchant,
  mcc, 'A book', created_at, created_at, '{"type":"policy","id":null,"name":null}', '{}', id, '{}'
from transactions order by id limit ${INTENTS}`

const PAID = `
update transactions t set intent_id = i.id from intents i
where (t.owner_id, t.mode, t.id) = (i.owner_id, i.mode, i.transaction_id)`

const COMPLETED = `
insert into spend_cells
select owner_id, mode, 'completed:agent', (created_at at time zone 'UTC')::date, agent_id, '', '', count(*), 0, 0, 0
from intents group by 1, 2, 3, 4, 5`

const REPORTED = `
insert into outcomes (id, owner_id, mode, created_at, updated_at, agent_id, intent_id, merchant, mcc, declared_at, success,
  value_cents, metadata)
select 'outcome_bench_' || row_number() over (order by id), owner_id, mode, created_at, created_at, agent_id, id, merchant, mcc,
  created_at, amount_cents % 3 > 0, 2000, '{}'
from intents where amount_cents % 5 > 0`

const COUNTED = `
insert into spend_counted (owner_id, mode, transaction_id, kind, cents, type, merchant)
select owner_id, mode, id, 'spent', amount_cents, type, lower(merchant) from transactions`

const CAUGHT_UP =
  'update spend_position set written_in = pg_snapshot_xmax(pg_current_snapshot())::text::bigint'

const CHUNK = 500_000

export async function fillPayments(stage: Stage, payments: number): Promise<void> {
  await fillAgents(stage)
  await withClient(stage, async client => {
    await client.query(`set session_replication_role = replica; ${UNUSED}`)
    for (let from = 1; from <= payments; from += CHUNK)
      await client.query(PAYMENTS, [stage.ownerId, from, Math.min(payments, from + CHUNK - 1)])
    for (const text of [CELLS, COUNTED, DECLARED, PAID, COMPLETED, REPORTED]) await client.query(text)
    await client.query(KEPT_BACK, [stage.ownerId])
    await client.query(CAUGHT_UP)
    await client.query('vacuum analyze')
  })
}

const NEW_PAYMENTS = `
with paid as (
  insert into transactions (id, owner_id, mode, created_at, updated_at, agent_id, wallet_id, type, status, currency,
    amount_cents, refunded_cents, merchant, mcc, country, witnesses)
  select 'txn_new_' || $2 || '_' || n, $1, 'test', now(), now(), 'agent_bench_' || n % ${AGENTS} + 1,
    'wallet_bench_' || n % ${AGENTS} + 1, 'card', 'completed', 'EUR', 1000 + n, 0, 'Bookshop', '5942', 'DE', '[]'
  from generate_series(1, $3::int) as n returning id, owner_id, mode, agent_id
)
insert into events (id, owner_id, mode, agent_id, event, data, request_id, created_at, actor_type, action, outcome,
  resource_id, recorded_at)
select first_id_at('event', now()) || substr(md5(id || step), 1, 16), owner_id, mode, agent_id, 'transaction.' || step,
  jsonb_build_object('transactionId', id, 'agentId', agent_id, 'amountEuros', 12.5, 'merchant', 'Bookshop', 'status', step),
  'req_bench', now(), 'key', 'transfers.create', 'done', id, now()
from paid, unnest('{created,authorization,settlement,settled,completed}'::text[]) as step`

/** Committed payments that are in no sum yet, with five events each, in batches per transaction. */
export const addPayments = (stage: Stage, batches: number, inEach: number): Promise<void> =>
  withClient(stage, async client => {
    await client.query('set session_replication_role = replica')
    for (let batch = 0; batch < batches; batch++)
      await client.query(NEW_PAYMENTS, [stage.ownerId, `${Date.now()}_${batch}`, inEach])
  })
