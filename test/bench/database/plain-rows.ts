import { type Stage, withClient } from '../stage.ts'
import { AGENTS, fillAgents } from './intent-rows.ts'

/** One template for each agent, so that concurrent assignments lock different ones. */
export const TEMPLATES = AGENTS
/** More agents than one measurement freezes. */
export const FREEZABLE = 10_000

const INSERT_TEMPLATES = `insert into policies (id, owner_id, mode, created_at, updated_at, version, name,
    auto_approve_limit_cents, merchant_allowlist, merchant_blocklist, mcc_categories, allowed_countries,
    lock_to_first_merchant, allowed_mccs, blocked_mccs, require_intent, require_attestation, expiration_action)
  select 'policy_template_' || n, $1, 'test', now(), now(), 1, 'Template', 5000, '{}', '{}', '{}', '{}', false, '{}',
    '{}', false, false, 'notify'
  from generate_series(1, ${TEMPLATES}) as n`

/** Agents without wallets: freezing needs none. */
const INSERT_FREEZABLE = `insert into agents
    (id, owner_id, mode, created_at, updated_at, name, status, wallet_id, metadata)
  select 'agent_freezable_' || n, $1, 'test', now(), now(), 'Agent ' || n, 'active',
    'wallet_bench_' || 1 + n % ${AGENTS}, '{}'
  from generate_series(1, ${FREEZABLE}) as n`

export async function fillPlain(stage: Stage): Promise<void> {
  await fillAgents(stage)
  await withClient(stage, async client => {
    await client.query(INSERT_TEMPLATES, [stage.ownerId])
    await client.query(INSERT_FREEZABLE, [stage.ownerId])
    await client.query('vacuum analyze agents, policies')
  })
}

export const thawAgents = (stage: Stage): Promise<unknown> =>
  withClient(stage, client =>
    client.query(`update agents set status = 'active', frozen_reason = null where status = 'frozen'`),
  )

/** Removes all subscriptions: a plan has room for a thousand. */
export const removeWebhooks = (stage: Pick<Stage, 'databaseUrl'>): Promise<unknown> =>
  withClient(stage, client => client.query('delete from webhooks'))
