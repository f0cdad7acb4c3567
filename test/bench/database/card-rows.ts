import { intentMerchantKey } from '../../../src/control/merchants/index.ts'
import { usualOrShort } from '../short.ts'
import { type Stage, type StageToFill, withClient } from '../stage.ts'
import { DECISION, type Numbered } from './intent-rows.ts'

/** The number of agents with a card, `card_bench_{n}`, from 1. */
export const CARDS = usualOrShort(500, 50)

const TERMS = `insert into card_terms (id, owner_id, mode, created_at, updated_at, agent_id, status, merchant_allowlist,
    merchant_blocklist, allowed_countries, allowed_mccs, blocked_mccs, mcc_categories, version)
  select 'card_bench_' || n, $1, 'test', now(), now(), 'agent_bench_' || n, 'active', '{}', '{}', '{}', '{}', '{}', '{}', 1
  from generate_series(1, $2::int) as n`

const CARD_ROWS = `insert into cards (id, owner_id, mode, created_at, updated_at, agent_id, status, usage, display_name,
    activates, processor, number_id, brand, last4, exp_month, exp_year, metadata)
  select 'card_bench_' || n, $1, 'test', now(), now(), 'agent_bench_' || n, 'active', 'multi', 'Research', true,
    'sandbox', 'cardnumber_bench_' || n, 'sandbox', '0000', 12, 2099, '{}'
  from generate_series(1, $2::int) as n`

const NUMBERS = `insert into card_numbers (id, owner_id, mode, created_at, updated_at, agent_id, card_id, status, processor,
    processor_card_id, brand, last4, exp_month, exp_year, ends_at, processor_state)
  select 'cardnumber_bench_' || n, $1, 'test', now(), now(), 'agent_bench_' || n, 'card_bench_' || n, 'current',
    'sandbox', 'sandboxcard_bench_' || n, 'sandbox', '0000', 12, 2099, '2099-12-31', 'active'
  from generate_series(1, $2::int) as n`

export const processorIdOf = (number: number): string => `sandboxcard_bench_${number}`

export const fillCards = (stage: StageToFill): Promise<void> =>
  withClient(stage, async client => {
    await client.query('begin')
    for (const text of [TERMS, CARD_ROWS, NUMBERS]) await client.query(text, [stage.ownerId, CARDS])
    await client.query('commit')
    await client.query('vacuum analyze card_terms, cards, card_numbers')
  })

export type Cover = 'covered' | 'uncovered'

/** The approved amount of each intent, and the amount of each payment. */
export const CARD_CENTS = 950

const INTENTS = `insert into intents (id, owner_id, mode, created_at, updated_at, agent_id, status, amount_cents,
    currency, merchant, merchant_key, hold_cents, purpose, expires_at, decided_at, decided_by, decision, metadata)
  select 'intent_card_' || n, $1, 'test', now(), now(), 'agent_bench_' || 1 + n % $5, 'approved',
    ${CARD_CENTS}, 'EUR', 'Bookshop ' || n, key, ${CARD_CENTS}, 'A paper on caching', now() + interval '30 days', now(),
    '{"type":"policy","id":"policy_bench_1","name":null}', $2, '{}'
  from unnest($3::int[], $4::text[]) as w (n, key)`

const RESERVED = `insert into reservations (owner_id, mode, cause_type, cause_id, subjects, day, amount_cents,
    reserved_cents, spent_cents)
  select $1, 'test', 'intent', 'intent_card_' || n, array['agent_bench_' || 1 + n % $4], current_date,
    ${CARD_CENTS}, ${CARD_CENTS}, 0
  from generate_series($2::int, $3::int) as n`

const COUNTED = `insert into counters as kept (owner_id, mode, subject, period, reserved_cents, reserved_uses)
  select $1, 'test', 'agent_bench_' || 1 + n % $4, period, ${CARD_CENTS} * count(*), count(*) filter (where period = 'all')
  from generate_series($2::int, $3::int) as n, unnest(periods_of(current_date)) as p (period)
  group by n % $4, period
  on conflict (owner_id, mode, subject, period) do update
    set reserved_cents = kept.reserved_cents + excluded.reserved_cents,
      reserved_uses = kept.reserved_uses + excluded.reserved_uses`

const HELD = `select ledger_post($1, 'test', now(),
    jsonb_agg(jsonb_build_object('id', 'posting_card_' || n, 'currency', 'EUR', 'kind', 'hold', 'referenceType', 'intent',
      'referenceId', 'intent_card_' || n, 'valueDate', null)),
    jsonb_agg(jsonb_build_object('transferId', 'posting_card_' || n, 'accountId', 'account_bench_' || 1 + n % $4,
      'amount', 0, 'holdId', 'hold_card_' || n, 'hold', ${CARD_CENTS})))
  from generate_series($2::int, $3::int) as n`

let numbered = 0

/** The next numbers of payments, each used once. */
export function nextPayments(count: number): Numbered {
  const from = numbered + 1
  numbered += count
  return { from, to: numbered }
}

/** Creates an approved intent, with its holds, for each of the next payments, whose merchant is `Bookshop {n}`. */
export async function addCovered(stage: Stage, count: number, agents: number): Promise<Numbered> {
  const { from, to } = nextPayments(count)
  const numbers = Array.from({ length: count }, (_, n) => from + n)
  const keys = numbers.map(number => intentMerchantKey(`Bookshop ${number}`))
  await withClient(stage, async client => {
    await client.query('begin')
    await client.query(INTENTS, [stage.ownerId, DECISION, numbers, keys, agents])
    for (const text of [RESERVED, COUNTED, HELD]) await client.query(text, [stage.ownerId, from, to, agents])
    await client.query('commit')
  })
  return { from, to }
}
