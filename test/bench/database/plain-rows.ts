import { type Stage, withClient } from '../stage.ts'
import { AGENTS, fillAgents } from './intent-rows.ts'

/** One for each agent: concurrent assignments then lock different templates. */
export const TEMPLATES = AGENTS
/** More than one measurement freezes. */
export const FREEZABLE = 10_000

const INSERT_TEMPLATES = `insert into policies (id, owner_id, mode, created_at, updated_at, version, name,
    auto_approve_limit_cents, merchant_allowlist, merchant_blocklist, mcc_categories, allowed_countries,
    lock_to_first_merchant, allowed_mccs, blocked_mccs, require_intent, require_attestation, expiration_action)
  select 'policy_template_' || n, $1, 'test', now(), now(), 1, 'Template', 5000, '{}', '{}', '{}', '{}', false, '{}',
    '{}', false, false, 'notify'
  from generate_series(1, ${TEMPLATES}) as n`

/** They have no wallets of their own, which nothing that is measured on them needs. */
const INSERT_FREEZABLE = `insert into agents
    (id, owner_id, mode, created_at, updated_at, name, status, wallet_id, metadata)
  select 'agent_freezable_' || n, $1, 'test', now(), now(), 'Agent ' || n, 'active',
    'wallet_bench_' || 1 + n % ${AGENTS}, '{}'
  from generate_series(1, ${FREEZABLE}) as n`

/** Agents with policies and wallets, templates for them, and `agent_freezable_{n}`. */
export async function fillPlain(stage: Stage): Promise<void> {
  await fillAgents(stage)
  await withClient(stage, async client => {
    await client.query(INSERT_TEMPLATES, [stage.ownerId])
    await client.query(INSERT_FREEZABLE, [stage.ownerId])
    await client.query('vacuum analyze agents, policies')
  })
}

/** Makes all frozen agents active again: freezing uses up those that are. */
export const thawAgents = (stage: Stage): Promise<unknown> =>
  withClient(stage, client =>
    client.query(`update agents set status = 'active', frozen_reason = null where status = 'frozen'`),
  )

/** Removes all subscriptions: a plan has room for a thousand, and each of them makes the next event dearer. */
export const removeWebhooks = (stage: Pick<Stage, 'databaseUrl'>): Promise<unknown> =>
  withClient(stage, client => client.query('delete from webhooks'))
