import { type Stage, type StageToFill, withClient } from '../stage.ts'
import { addWallets } from './wallet-rows.ts'

export const AGENTS = 1_000

/** The amount up to which intents are approved at once. */
const LIMIT_CENTS = 5_000

const RULES = `insert into policies (id, owner_id, mode, created_at, updated_at, agent_id, assigned_at, version, name,
    auto_approve_limit_cents, merchant_allowlist, merchant_blocklist, mcc_categories, allowed_countries,
    lock_to_first_merchant, allowed_mccs, blocked_mccs, require_intent, require_attestation, expiration_action)
  select 'policy_bench_' || n, $1, 'test', now(), now(), 'agent_bench_' || n, now(), 1, 'Bench',
    ${LIMIT_CENTS}, '{}', '{}', '{}', '{}', false, '{}', '{}', false, false, 'notify'
  from generate_series(1, ${AGENTS}) as n`

const THEIRS = `insert into agents
    (id, owner_id, mode, created_at, updated_at, name, status, policy_id, wallet_id, metadata)
  select 'agent_bench_' || n, $1, 'test', now(), now(), 'Agent ' || n, 'active', 'policy_bench_' || n,
    'wallet_bench_' || n, '{}'
  from generate_series(1, ${AGENTS}) as n`

export const fillAgents = (stage: StageToFill): Promise<void> =>
  withClient(stage, async client => {
    await client.query('begin')
    await client.query(RULES, [stage.ownerId])
    await client.query(THEIRS, [stage.ownerId])
    await addWallets(client, stage.ownerId, { kind: 'agent', count: AGENTS })
    await client.query('commit')
    await client.query('vacuum analyze agents, policies, wallets, ledger_accounts')
  })

/** The stored decision; the spaces are for pgbench. */
export const DECISION = `{"id":"decision_01kagp6mybf2ktzn5dx2q8fjzd","checks":[{"rule":"autoApproveLimitEuros",
  "used":9.5,"limit":50,"message":"€ 9.50 is within the auto-approve limit of € 50.00.",
  "outcome":"pass","remaining":40.5}],"reason":"€ 9.50 is within the auto-approve limit of € 50.00.",
  "allowed": true,"policyId":"policy_bench_1","riskScore": null,"policyVersion":1,"requiresApproval": false}`

const WAITING = `insert into intents (id, owner_id, mode, created_at, updated_at, agent_id, status, amount_cents,
    currency, merchant, purpose, expires_at, decision, workflow_id, metadata)
  select 'intent_bench_' || n, $1, 'test', now(), now(), 'agent_bench_' || 1 + n % ${AGENTS}, 'created', 7500,
    'EUR', 'Bookshop', 'A paper on caching', now() + interval '30 days', $2, 'intent/intent_bench_' || n, '{}'
  from generate_series($3::int, $4::int) as n`

const QUEUED = `insert into outbox (id, owner_id, mode, process, recurs, workflow_id, input, created_at, due_at)
  select uuidv7(), owner_id, mode, 'intent', false, workflow_id, jsonb_build_object('id', id, 'ownerId', owner_id,
    'mode', mode, 'agentId', agent_id), now(), now()
  from intents where id = any(select 'intent_bench_' || n from generate_series($1::int, $2::int) as n)`

/** The amount that each approved intent reserves and holds. */
export const APPROVED_CENTS = 950

const APPROVED = `insert into intents (id, owner_id, mode, created_at, updated_at, agent_id, status, amount_cents,
    currency, merchant, purpose, expires_at, decided_at, decided_by, decision, metadata)
  select 'intent_bench_' || n, $1, 'test', now(), now(), 'agent_bench_' || 1 + n % ${AGENTS}, 'approved',
    ${APPROVED_CENTS}, 'EUR', 'Bookshop', 'A paper on caching', now() + interval '30 days', now(),
    '{"type":"policy","id":"policy_bench_1","name":null}', $2, '{}'
  from generate_series($3::int, $4::int) as n`

const RESERVED = `insert into reservations (owner_id, mode, cause_type, cause_id, subjects, day, amount_cents,
    reserved_cents, spent_cents)
  select $1, 'test', 'intent', 'intent_bench_' || n, array['agent_bench_' || 1 + n % ${AGENTS}], current_date,
    ${APPROVED_CENTS}, ${APPROVED_CENTS}, 0
  from generate_series($2::int, $3::int) as n`

const COUNTED = `insert into counters as kept (owner_id, mode, subject, period, reserved_cents, reserved_uses)
  select $1, 'test', 'agent_bench_' || 1 + n % ${AGENTS}, period, ${APPROVED_CENTS} * count(*),
    count(*) filter (where period = 'all')
  from generate_series($2::int, $3::int) as n, unnest(periods_of(current_date)) as p (period)
  group by n % ${AGENTS}, period
  on conflict (owner_id, mode, subject, period) do update
    set reserved_cents = kept.reserved_cents + excluded.reserved_cents,
      reserved_uses = kept.reserved_uses + excluded.reserved_uses`

const HELD = `select ledger_post($1, 'test', now(),
    jsonb_agg(jsonb_build_object('id', 'posting_bench_' || n, 'currency', 'EUR', 'kind', 'hold', 'referenceType', 'intent',
      'referenceId', 'intent_bench_' || n, 'valueDate', null)),
    jsonb_agg(jsonb_build_object('transferId', 'posting_bench_' || n, 'accountId', 'account_bench_' || 1 + n % ${AGENTS},
      'amount', 0, 'holdId', 'hold_bench_' || n, 'hold', ${APPROVED_CENTS})))
  from generate_series($2::int, $3::int) as n`

export interface Numbered {
  readonly from: number
  readonly to: number
}

let declared = 0

function nextNumbers(count: number): Numbered {
  const from = declared + 1
  declared += count
  return { from, to: declared }
}

/** Creates waiting intents `intent_bench_{n}`, and optionally their rows in the outbox. */
export async function addWaiting(stage: Stage, count: number, { queued = false } = {}): Promise<Numbered> {
  const { from, to } = nextNumbers(count)
  await withClient(stage, async client => {
    await client.query('begin')
    await client.query(WAITING, [stage.ownerId, DECISION, from, to])
    if (queued) await client.query(QUEUED, [from, to])
    await client.query('commit; notify outbox')
  })
  return { from, to }
}

/** Creates approved intents `intent_bench_{n}`, with their reservations and their holds `hold_bench_{n}`. */
export async function addApproved(stage: Stage, count: number): Promise<Numbered> {
  const { from, to } = nextNumbers(count)
  await withClient(stage, async client => {
    await client.query('begin')
    await client.query(APPROVED, [stage.ownerId, DECISION, from, to])
    for (const text of [RESERVED, COUNTED, HELD]) await client.query(text, [stage.ownerId, from, to])
    await client.query('commit')
  })
  return { from, to }
}
