import { beforeAll, describe, expect, test } from '@jest/globals'
import { days } from '../../src/values/clock.ts'
import { fillAgents } from '../bench/database/intent-rows.ts'
import { fillPast, HOT, RUNNER } from '../bench/database/past-intents.ts'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

/** What it costs to spend, in blocks that the database looks at: with nothing behind it, and with very much. */
const service = await startTestService({ env: { DATABASE_POOL: '4' } })
const { ownerId, key: token, client } = await service.owner()

const PAST = 2_500

const hot = `agent_bench_${HOT}`
const asked = { amountEuros: 9.5, merchant: 'Bookshop', purpose: 'A paper on caching' }
/** A day in the midst of what there is. */
const daysAgo = (count: number) => new Date(Date.now() - days(count)).toISOString()
const span = { from: daysAgo(45), to: daysAgo(44) }

/** Those who have worked tell what they have read when they end; our own connection when it is asked to. */
const END = `
select pg_stat_force_next_flush(), (
  select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend')`

/** Nobody but the test looks at the tables. */
const UNWATCHED = `
do $$ declare one record; begin
  for one in select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
    execute format('alter table %I set (autovacuum_enabled = false)', one.relname);
  end loop;
end $$`

const BLOCKS = `
select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0))::int as blocks
from pg_statio_user_tables`

async function blocksOf(work: () => Promise<unknown>): Promise<number> {
  await service.sql(END)
  const [before] = await service.sql<{ blocks: number }>(BLOCKS)
  await work()
  await service.sql(END)
  const [now] = await service.sql<{ blocks: number }>(BLOCKS)
  return Number(now?.blocks) - Number(before?.blocks)
}

let keys = 0
const once = () => ({ 'idempotency-key': `flat-${keys++}` })
const declared = (members: object = {}) =>
  bodyOf(client.intents.create({ body: { ...asked, agentId: hot, ...members }, headers: once() }))
const read = async (path: string): Promise<void> => {
  expect(await service.http('GET', path, { token })).toMatchObject({ status: 200 })
}

/** Each with what it needs, which is made before it is measured. */
const ways: Record<string, () => Promise<() => Promise<unknown>>> = {
  declaring: async () => declared,
  async 'declaring in a run'() {
    const { id: runId } = await bodyOf(
      client.runs.create({ body: { agentId: `agent_bench_${RUNNER}`, name: 'R' } }),
    )
    return () => declared({ agentId: `agent_bench_${RUNNER}`, runId, clientIntentId: runId })
  },
  async approving() {
    const { id } = await declared({ amountEuros: 75 })
    return () => bodyOf(client.intents.approve({ params: { id }, headers: once() }))
  },
  async paying() {
    const { id: walletId } = await bodyOf(client.wallets.create({ body: { name: 'Bookshop' } }))
    const { id: intentId } = await declared({ walletId })
    const body = { fromWalletId: `wallet_bench_${HOT}`, toWalletId: walletId, amountEuros: 9, intentId }
    return () => bodyOf(client.transfers.create({ body, headers: once() }))
  },
  async cancelling() {
    const { id } = await declared()
    return () => bodyOf(client.intents.cancel({ params: { id }, headers: once() }))
  },
  async expiring() {
    await declared({ expiresInMinutes: 1 })
    return () => bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
  },
  async explaining() {
    const { id } = await declared()
    return () => bodyOf(client.intents.explanation({ params: { id } }))
  },
  simulating: async () => () =>
    bodyOf(client.intents.simulate({ body: { agentId: hot, amountEuros: 9.5, merchant: 'Bookshop' } })),
  async replaying() {
    const { id } = await bodyOf(client.policies.effective({ params: { agentId: hot } }))
    return () => bodyOf(client.policies.backtest({ params: { id }, body: span }))
  },
  listing: async () => () => read(`/intents?agentId=${hot}`),
  'listing a span': async () => () => read(`/intents?from=${span.from}&to=${span.to}`),
  'listing an agent’s span': async () => () => read(`/intents?agentId=${hot}&to=${span.to}`),
}

async function costs(): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const [name, prepare] of Object.entries(ways)) found[name] = await blocksOf(await prepare())
  return found
}

/** A page of a list, an index that has grown by a level. */
const A_LITTLE = 100

describe('what it costs to spend does not grow with the past', () => {
  let before: Record<string, number> = {}
  beforeAll(async () => {
    const stage = { databaseUrl: service.databaseUrl, ownerId, token, api: { url: service.url } }
    await service.sql(UNWATCHED)
    await fillAgents(stage)
    before = await costs()
    await fillPast(stage, PAST)
  }, 60_000)

  const withinReason = () =>
    Object.fromEntries(Object.entries(before).map(([name, blocks]) => [name, 2 * blocks + A_LITTLE]))

  test.each(['has just come', 'has been looked at by PostgreSQL'])('that %s', async state => {
    if (state.includes('PostgreSQL')) await service.sql('analyze')
    const now = await costs()
    const most = withinReason()
    expect(Object.entries(now).filter(([name, blocks]) => blocks > Number(most[name]))).toEqual([])
  })
})
