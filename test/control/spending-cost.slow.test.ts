import { beforeAll, describe, expect, test } from '@jest/globals'
import { days } from '../../src/values/clock.ts'
import { fillCards } from '../bench/database/card-rows.ts'
import { AGENTS, fillAgents } from '../bench/database/intent-rows.ts'
import { fillPastAuthorizations } from '../bench/database/past-authorizations.ts'
import { fillPast, HOT, RUNNER } from '../bench/database/past-intents.ts'
import { networkBefore } from '../support/cards/network.ts'
import { demand, startMerchant } from '../support/commerce/merchant.ts'
import { inDays } from '../support/control/mandates.ts'
import { bodyOf } from '../support/factories.ts'
import { ENCRYPTION_KEY, startTestService } from '../support/harness.ts'
import type { Authenticator } from '../support/identity/authenticator.ts'
import { enrolled, signed } from '../support/identity/people.ts'

/** Compares how many blocks PostgreSQL reads for a request with a small and with a very large history. */
const service = await startTestService({ env: { DATABASE_POOL: '4', OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const { ownerId, key: token, client } = await service.owner()
const network = networkBefore(service)
const merchant = await startMerchant()

const PAST = 2_500

const hot = `agent_bench_${HOT}`
const hotCard = `card_bench_${HOT}`
const spend = { amountEuros: 9.5, merchant: 'Bookshop', purpose: 'A paper on caching' }
const daysAgo = (count: number) => new Date(Date.now() - days(count)).toISOString()
const span = { from: daysAgo(45), to: daysAgo(44) }

/** Connections report their reads when they end, so all are ended; this one is made to report. */
const FLUSH_STATISTICS = `
select pg_stat_force_next_flush(), (
  select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend')`

/** Autovacuum would read the tables too, so it is switched off. */
const WITHOUT_AUTOVACUUM = `
do $$ declare one record; begin
  for one in select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
    execute format('alter table %I set (autovacuum_enabled = false)', one.relname);
  end loop;
end $$`

const BLOCKS = `
select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0))::int as blocks
from pg_statio_user_tables`

async function blocksOf(work: () => Promise<unknown>): Promise<number> {
  await service.sql(FLUSH_STATISTICS)
  const [before] = await service.sql<{ blocks: number }>(BLOCKS)
  await work()
  await service.sql(FLUSH_STATISTICS)
  const [now] = await service.sql<{ blocks: number }>(BLOCKS)
  return Number(now?.blocks) - Number(before?.blocks)
}

let keys = 0
const newKey = () => ({ 'idempotency-key': `cost-${keys++}` })
const declare = (members: object = {}) =>
  bodyOf(client.intents.create({ body: { ...spend, agentId: hot, ...members }, headers: newKey() }))
const read = async (path: string): Promise<void> => {
  expect(await service.http('GET', path, { token })).toMatchObject({ status: 200 })
}

async function payByCard(cardId: string, descriptor = 'Bookshop') {
  const answered = await network.authorize(cardId, 9.5, { descriptor })
  expect(answered.reply).toMatchObject({ kind: 'approved' })
  return answered
}

let device: Promise<Authenticator> | undefined
const signer = (): Promise<Authenticator> =>
  (device ??= enrolled(service, { ownerId, key: token, client }).then(person => person.device))

/** Each entry prepares its request, and returns the request that is measured. */
const requests: Record<string, () => Promise<() => Promise<unknown>>> = {
  declaring: async () => declare,
  async 'declaring in a run'() {
    const { id: runId } = await bodyOf(
      client.runs.create({ body: { agentId: `agent_bench_${RUNNER}`, name: 'R' } }),
    )
    return () => declare({ agentId: `agent_bench_${RUNNER}`, runId, clientIntentId: runId })
  },
  async 'declaring inside a mandate'() {
    const device = await signer()
    const mandate = { agentId: hot, constraints: { totalEuros: 1_000 }, expiresAt: inDays(30) }
    const challenge = await bodyOf(client.mandates.options({ body: mandate }))
    const body = { ...mandate, webauthnAssertion: signed(challenge, device) }
    const { id } = await bodyOf(client.mandates.create({ body }))
    return async () => {
      expect((await declare({ amountEuros: 75 })).decidedBy).toMatchObject({ type: 'mandate', id })
      await bodyOf(client.mandates.revoke({ params: { id }, body: {} }))
    }
  },
  async approving() {
    const { id } = await declare({ amountEuros: 75 })
    return () => bodyOf(client.intents.approve({ params: { id }, headers: newKey() }))
  },
  async paying() {
    const { id: walletId } = await bodyOf(client.wallets.create({ body: { name: 'Bookshop' } }))
    const { id: intentId } = await declare({ walletId })
    const body = { fromWalletId: `wallet_bench_${HOT}`, toWalletId: walletId, amountEuros: 9, intentId }
    return () => bodyOf(client.transfers.create({ body, headers: newKey() }))
  },
  async cancelling() {
    const { id } = await declare()
    return () => bodyOf(client.intents.cancel({ params: { id }, headers: newKey() }))
  },
  async expiring() {
    await declare({ expiresInMinutes: 1 })
    return () => bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
  },
  async explaining() {
    const { id } = await declare()
    return () => bodyOf(client.intents.explanation({ params: { id } }))
  },
  'paying by card': async () => () => payByCard(hotCard),
  async 'paying an intent by card'() {
    const { id: intentId } = await declare({ merchant: 'Bookshop of the card' })
    return async () => {
      await payByCard(hotCard, 'Bookshop of the card')
      expect(await bodyOf(client.intents.get({ params: { id: intentId } }))).toMatchObject({
        status: 'approved',
      })
    }
  },
  async 'paying by HTTP 402'() {
    const url = merchant.sells('/report', demand({ amount: '950' }))
    const { id: intentId } = await declare({ merchant: '127.0.0.1' })
    // The processor knows only cards that it has issued itself.
    const { id: cardId } = await bodyOf(client.cards.create({ body: { agentId: hot, usage: 'multi' } }))
    return () => bodyOf(client.mpp.pay({ body: { url, intentId, cardId }, headers: newKey() }))
  },
  async clearing() {
    const { authorizationId } = await payByCard(hotCard)
    return () => network.clear(hotCard, authorizationId, 9.5)
  },
  'listing a card’s payments': async () => () => read(`/cards/${hotCard}/authorizations`),
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
  const blocks: Record<string, number> = {}
  for (const [name, prepare] of Object.entries(requests)) blocks[name] = await blocksOf(await prepare())
  return blocks
}

/**
 * Blocks that a request may read in addition: a page of a list with its payments (20 intents, three means, an
 * index of three levels), or an index that has grown by a level.
 */
const MARGIN = 180
/** A page of intents reads the decision on each of them, too. */
const DECISIONS = 60
/** Replaying looks up each agent: an index that has grown by a level costs a block per agent. */
const marginOf = (name: string): number => {
  if (name === 'replaying') return MARGIN + AGENTS
  return name.startsWith('listing') && !name.includes('card') ? MARGIN + DECISIONS : MARGIN
}

describe('the cost of spending does not grow with what was spent before', () => {
  let before: Record<string, number> = {}
  beforeAll(async () => {
    const stage = { databaseUrl: service.databaseUrl, ownerId, token, api: { url: service.url } }
    await service.sql(WITHOUT_AUTOVACUUM)
    await fillAgents(stage)
    await fillCards(stage)
    before = await costs()
    await fillPastAuthorizations(stage, PAST, ENCRYPTION_KEY)
    await fillPast(stage, PAST)
  })

  const limits = () =>
    Object.fromEntries(Object.entries(before).map(([name, blocks]) => [name, 2 * blocks + marginOf(name)]))

  test.each(['just written', 'analyzed by PostgreSQL'])('in tables %s', async state => {
    if (state.includes('PostgreSQL')) await service.sql('analyze')
    const now = await costs()
    const most = limits()
    expect(Object.entries(now).filter(([name, blocks]) => blocks > Number(most[name]))).toEqual([])
  })

  test.each([
    ['intents that wait', `/intents?agentId=${hot}&status=created`, 'intents_of_agent_by_status'],
    ['dead letters', '/webhooks/deliveries?status=dead', 'deliveries_in_trouble'],
    ['cancelled transfers', '/transfers?status=cancelled', 'transfers_by_exceptional_status'],
  ])('a list of %s reads the index that has no others', async (_, path, index) => {
    const scans = async (): Promise<number> => {
      await service.sql(FLUSH_STATISTICS)
      const [row] = await service.sql<{ scans: number }>(
        'select idx_scan::int as scans from pg_stat_user_indexes where indexrelname = $1',
        [index],
      )
      return Number(row?.scans)
    }
    const before = await scans()
    await read(path)
    expect(await scans()).toBe(before + 1)
  })
})
