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

/** Agents, each with a policy and a wallet of its own. */
export const fillAgents = (stage: StageToFill): Promise<void> =>
  withClient(stage, async client => {
    await client.query('begin')
    await client.query(RULES, [stage.ownerId])
    await client.query(THEIRS, [stage.ownerId])
    await addWallets(client, stage.ownerId, { kind: 'agent', count: AGENTS })
    await client.query('commit')
    await client.query('vacuum analyze agents, policies, wallets, ledger_accounts')
  })

/** The decision as it is stored; the spaces are for pgbench. */
export const DECISION = `{"id":"decision_01kagp6mybf2ktzn5dx2q8fjzd","checks":[{"rule":"autoApproveLimitEuros",
  "used":9.5,"limit":50,"message":"€ 9.50 is within the limit of € 50.00 up to which no person is asked.",
  "outcome":"pass","remaining":40.5}],"reason":"€ 9.50 is within the limit of € 50.00 up to which no person is asked.",
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

export interface Numbered {
  readonly from: number
  readonly to: number
}

let declared = 0

/** Creates waiting intents `intent_bench_{n}`, and on request their rows in the outbox. */
export async function addWaiting(stage: Stage, count: number, { queued = false } = {}): Promise<Numbered> {
  const from = declared + 1
  const to = from + count - 1
  declared = to
  await withClient(stage, async client => {
    await client.query('begin')
    await client.query(WAITING, [stage.ownerId, DECISION, from, to])
    if (queued) await client.query(QUEUED, [from, to])
    await client.query('commit; notify outbox')
  })
  return { from, to }
}
