import { describe, expect, test } from '@jest/globals'
import { times } from '../support/at-once.ts'
import { anAgentUnder, anIntent, aSepaTransfer, bodyOf } from '../support/factories.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { startTestService } from '../support/harness.ts'
import { addressOfRun, temporalOfRun } from '../support/temporal/access.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

const proxy = await flakyProxy(`tcp://${addressOfRun()}`)
const service = await startTestService({ temporal: temporalOfRun(new URL(proxy.url).host) })
const temporal = await runViewer()
const { client } = await service.owner()
const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10 })

/** Longer than an intent lives, and than the sweep leaves it to its run. */
const PATIENCE_MS = 180_000

/** What `rescues_total` counts, by operation; those at 0 are left out. */
async function rescues(): Promise<Record<string, number>> {
  const answer = await fetch(`${service.url}/metrics`, {
    headers: { 'x-dashboard-secret': service.dashboardSecret },
  })
  const lines = (await answer.text()).matchAll(/^rescues_total\{operation="(.*)"\} (\d+)$/gm)
  return Object.fromEntries([...lines].map(([, name, count]) => [name, Number(count)]).filter(([, n]) => n))
}

async function someIntents(): Promise<string[]> {
  const intents = await times(10, () => anIntent(client, agent.id, { amountEuros: 11, expiresInMinutes: 1 }))
  for (const intent of intents) await temporal.of(intent).untilBegun()
  return intents.map(({ id }) => id)
}

/** Waits until all have expired. Returns by how many seconds the first and the last one were late. */
async function expiryOf(ids: readonly string[]): Promise<readonly [first: number, last: number]> {
  const statement = `
    select (extract(epoch from min(e.recorded_at - i.expires_at)))::float8 as first,
      (extract(epoch from max(e.recorded_at - i.expires_at)))::float8 as last, count(*)::int as count
    from events e join intents i on i.id = e.data ->> 'intentId'
    where e.event = 'intent.expired' and i.id = any($1)`
  const row = await until(
    'all intents have expired',
    async () => {
      const [late] = await service.sql<{ first: number; last: number; count: number }>(statement, [ids])
      return late?.count === ids.length ? late : undefined
    },
    PATIENCE_MS,
  )
  return [row.first, row.last]
}

describe('intents that are not paid', () => {
  test('are expired by their runs while Temporal serves', async () => {
    const [first, last] = await expiryOf(await someIntents())
    expect(first).toBeGreaterThanOrEqual(0)
    expect(last).toBeLessThan(30)
    expect(await rescues()).toEqual({})
  })

  test('are expired half a minute later while Temporal is away, and a transfer still leaves', async () => {
    const ids = await someIntents()
    await proxy.close()
    const { id } = await aSepaTransfer(client)
    const [first] = await expiryOf(ids)
    expect(first).toBeGreaterThanOrEqual(30)
    const statusOf = async () => (await bodyOf(client.transfers.get({ params: { id } }))).status
    await until('the transfer is completed', async () => (await statusOf()) === 'completed', PATIENCE_MS)
    expect(await rescues()).toMatchObject({
      'intents.expire': ids.length,
      'transfers.verify': 1,
      'transfers.submit': 1,
    })
  })
})
