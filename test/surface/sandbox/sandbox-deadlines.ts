import { describe, expect, test } from '@jest/globals'
import { days, minutes } from '../../../src/values/clock.ts'
import { anAgent, anAgentUnder, anIntent, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { advance, DAY, offsetOf, statusOf } from '../../support/sandbox.ts'
import { until } from '../../support/until.ts'

const service = await startTestService()

interface Expiry {
  readonly id: string
  readonly due: Date
  readonly at: Date
}

/** In the order of their events. */
const expiriesOf = (ownerId: string): Promise<Expiry[]> =>
  service.sql<Expiry>(
    `select i.id, i.expires_at as due, e.created_at as at
     from events e join intents i on i.id = e.data ->> 'intentId'
     where e.owner_id = $1 and e.event = 'intent.expired' order by e.id`,
    [ownerId],
  )

/** Intents with increasing deadlines, made without requests. */
async function manyIntents(client: TestClient, count: number, apart: string): Promise<void> {
  const { id } = await anIntent(client, (await anAgent(client)).id)
  await service.sql(
    `insert into intents select (jsonb_populate_record(i, jsonb_build_object(
       'id', i.id || '_' || n, 'workflow_id', 'intent/' || i.id || '_' || n,
       'expires_at', i.expires_at + n * $3::interval))).*
     from intents i, generate_series(2, $2::int) as n where i.id = $1`,
    [id, count, apart],
  )
}

describe('what falls due while the test clock moves', () => {
  test('happens in order, each at its own instant', async () => {
    const { client, ownerId } = await service.owner()
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
    const ends: [number, number][] = [
      [300, 11],
      [5, 9],
      [1_439, 11],
      [60, 9],
      [1, 11],
      [1_441, 11],
      [61, 9],
    ]
    for (const [expiresInMinutes, amountEuros] of ends)
      await anIntent(client, agent.id, { expiresInMinutes, amountEuros })
    await advance(client, { days: 1 })
    const expiries = await expiriesOf(ownerId)
    expect(expiries).toHaveLength(6)
    expect(expiries.map(({ due }) => due)).toEqual(expiries.map(({ due }) => due).toSorted((a, b) => +a - +b))
    for (const { due, at } of expiries) {
      const late = at.getTime() - due.getTime()
      expect(late).toBeGreaterThanOrEqual(0)
      expect(late).toBeLessThan(minutes(0.5))
    }
    expect((await bodyOf(client.intents.list({ query: { status: 'created' } }))).data).toHaveLength(1)
  })

  test('happens at its own instant, even if the next one is a millisecond later', async () => {
    const { client, ownerId } = await service.owner()
    await manyIntents(client, 40, '3 milliseconds')
    await advance(client, { days: 2 })
    const expiries = await expiriesOf(ownerId)
    expect(expiries).toHaveLength(40)
    for (const { due, at } of expiries) expect(at.getTime() - due.getTime()).toBeLessThan(minutes(0.5))
  })

  test('happens at few stops, if hundreds of intents were declared in some seconds, and tells how far it is', async () => {
    const { client, ownerId } = await service.owner()
    await manyIntents(client, 400, '5 milliseconds')
    const moved = advance(client, { days: 2 })
    const seen = await until('the clock is on its way', async () => {
      const now = await bodyOf(client.sandbox.clock())
      return now.movesTo === null ? undefined : now
    })
    await moved
    const expiries = await expiriesOf(ownerId)
    expect(expiries).toHaveLength(400)
    for (const { due, at } of expiries) {
      const late = at.getTime() - due.getTime()
      expect(late).toBeGreaterThanOrEqual(0)
      expect(late).toBeLessThan(minutes(0.5))
    }
    const [first] = expiries.toSorted((one, other) => +one.due - +other.due) as [Expiry]
    const alike = expiries.filter(({ due }) => +due - +first.due < 900)
    expect(alike.length).toBeGreaterThan(100)
    for (const { due } of alike) expect(+first.at).toBeGreaterThanOrEqual(+due)
    const { now, movesTo } = await bodyOf(client.sandbox.clock())
    expect(movesTo).toBeNull()
    expect(Date.parse(now) - Date.parse(String(seen.movesTo))).toBeLessThan(minutes(0.5))
  })

  test('happens in order across all nouns', async () => {
    const { client, ownerId } = await service.owner()
    const agent = await anAgentUnder(client, { expiresAfterMinutes: 30 })
    for (const expiresInMinutes of [45, 15]) await anIntent(client, agent.id, { expiresInMinutes })
    await advance(client, { minutes: 60 })
    const events = await service.sql<{ event: string }>(
      `select event from events where owner_id = $1 and event like '%.expired' order by created_at, id`,
      [ownerId],
    )
    expect(events.map(({ event }) => event)).toEqual(['intent.expired', 'policy.expired', 'intent.expired'])
  })

  test('happens at the exact instant to which the clock is moved, and not before', async () => {
    const { client } = await service.owner()
    const { id } = await anIntent(client, (await anAgent(client)).id, { expiresInMinutes: 2 })
    await advance(client, { minutes: 1 })
    expect(await statusOf(client, id)).toBe('created')
    await advance(client, { minutes: 1 })
    expect(await statusOf(client, id)).toBe('expired')
  })

  test('happens before the answer, even if it was overdue already', async () => {
    const { client, ownerId } = await service.owner()
    const { id } = await anIntent(client, (await anAgent(client)).id, { expiresInMinutes: 1 })
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, days(1)])
    await advance(client, { seconds: 1 })
    expect(await statusOf(client, id)).toBe('expired')
  })

  test('may be a thousand deadlines in the same second', async () => {
    const { client, ownerId, key } = await service.owner()
    await manyIntents(client, 1_000, '0')
    const answer = await service.http('POST', '/simulate/clock/advance', { token: key, body: { days: 2 } })
    expect(answer).toMatchObject({ status: 200, body: { offsetSeconds: 2 * DAY } })
    const expiries = await expiriesOf(ownerId)
    expect(new Set(expiries.map(({ id }) => id)).size).toBe(1_000)
    expect(expiries).toHaveLength(1_000)
    const [remaining] = await service.sql(
      `select count(*) filter (where status <> 'expired')::int as open,
        (select count(*)::int from events where owner_id = $1 and event = 'intent.expired') as audit
       from intents where owner_id = $1`,
      [ownerId],
    )
    expect(remaining).toEqual({ open: 0, audit: 1_000 })
  })

  test('may be a hundred deadlines, each at its own instant', async () => {
    const { client, ownerId, key } = await service.owner()
    await manyIntents(client, 100, '1 minute')
    const answer = await service.http('POST', '/simulate/clock/advance', { token: key, body: { days: 30 } })
    expect(answer).toMatchObject({ status: 200, body: { offsetSeconds: 30 * DAY } })
    const expiries = await expiriesOf(ownerId)
    expect(expiries).toHaveLength(100)
    for (const { due, at } of expiries) {
      expect(at.getTime()).toBeGreaterThanOrEqual(due.getTime())
      expect(at.getTime()).toBeLessThan(due.getTime() + minutes(1))
    }
  })

  test('happens once, in order, when the clock is moved by concurrent requests', async () => {
    const { client, ownerId } = await service.owner()
    const agent = await anAgent(client)
    for (const expiresInMinutes of [10, 20, 30, 40, 50, 2_000])
      await anIntent(client, agent.id, { expiresInMinutes })
    await Promise.all([advance(client, { days: 1 }), advance(client, { days: 1 })])
    const expiries = await expiriesOf(ownerId)
    expect(expiries).toHaveLength(6)
    expect(expiries.map(({ due }) => due)).toEqual(expiries.map(({ due }) => due).toSorted((a, b) => +a - +b))
    expect(await offsetOf(client)).toBe(2 * DAY)
  })
})
