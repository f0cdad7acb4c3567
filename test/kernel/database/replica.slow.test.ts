import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { clientAt } from '../../support/client.ts'
import { anAgentUnder, anIntent, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { createOwner, DASHBOARD_SECRET } from '../../support/harness.ts'
import { type Standby, startStandby } from '../../support/processes/clusters.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { type OwnPostgres, ownPostgres } from '../../support/processes/own-servers.ts'
import { openServices } from '../../support/services/open.ts'
import { until } from '../../support/until.ts'

let primary: OwnPostgres
let standby: Standby
const closers: (() => Promise<void>)[] = []

beforeAll(async () => {
  primary = await ownPostgres()
  standby = await startStandby(primary)
}, 120_000)

afterAll(async () => {
  for (const close of closers) await close()
})

/** A service of its own: one that did not get an answer of its replica leaves it alone for ten seconds. */
async function aService(replicaUrl = standby.url) {
  const env = { DATABASE_REPLICA_URL: replicaUrl }
  const services = openServices({ databaseUrl: primary.url, filesDir: temporaryFolder() }, { env })
  closers.push(services.stop)
  const url = await services.another()
  const { key } = await createOwner(url)
  return {
    client: clientAt({ url, token: key }) as unknown as TestClient,
    reports: (server: 'primary' | 'replica') => metric(url, `reports_total{server="${server}"}`),
    behind: () => metric(url, 'follower_behind_seconds{follower="replica"}'),
  }
}

async function metric(url: string, name: string): Promise<number> {
  const answer = await fetch(`${url}/metrics`, { headers: { 'x-dashboard-secret': DASHBOARD_SECRET } })
  const line = (await answer.text()).split('\n').find(one => one.startsWith(`${name} `))
  return Number(line?.slice(name.length) ?? 0)
}

async function pay(client: TestClient, amountEuros: number) {
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 100 })
  const { id: walletId } = await aWallet(client, 0, { name: 'Bookshop' })
  const { id: intentId } = await anIntent(client, agent.id, { walletId, amountEuros })
  await bodyOf(client.checkout.execute({ body: { intentId } }))
}

const spent = async (client: TestClient) =>
  (await bodyOf(client.analytics.costs({ query: {} }))).total.spentEuros

test('the replica answers reports, and each has every payment made before it', async () => {
  const { client, reports } = await aService()
  for (const payments of [1, 2, 3, 4, 5]) {
    await pay(client, 2)
    expect(await spent(client)).toBe(2 * payments)
  }
  expect([await reports('replica'), await reports('primary')]).toEqual([5, 0])
})

test('what is no report is read from the primary', async () => {
  const { client, reports } = await aService()
  await bodyOf(client.wallets.list({}))
  expect([await reports('replica'), await reports('primary')]).toEqual([0, 0])
})

test('a replica that stays behind is not asked, and no payment is missing', async () => {
  const { client, reports, behind } = await aService()
  await standby.sql('select pg_wal_replay_pause()')
  try {
    await pay(client, 3)
    await until('it is seen to be behind', async () => (await behind()) > 0)
    expect(await spent(client)).toBe(3)
    expect(await spent(client)).toBe(3)
    expect([await reports('replica'), await reports('primary')]).toEqual([0, 2])
  } finally {
    await standby.sql('select pg_wal_replay_resume()')
  }
  await until('it has caught up', async () => (await behind()) === 0)
})

test('a server that is not the primary’s replica is not asked', async () => {
  const { client, reports } = await aService(primary.url)
  await pay(client, 4)
  expect(await spent(client)).toBe(4)
  expect(await reports('primary')).toBe(1)
})

test('where the replica has ended, the primary answers', async () => {
  const { client, reports, behind } = await aService()
  await pay(client, 5)
  expect(await spent(client)).toBe(5)
  await standby.stop()
  expect(await behind()).toBeNaN()
  expect(await spent(client)).toBe(5)
  expect([await reports('replica'), await reports('primary')]).toEqual([1, 1])
})
