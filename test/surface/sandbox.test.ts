import { describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { client as clientOf } from '../../src/derive/client.ts'
import { days, minutes } from '../../src/kernel/clock.ts'
import {
  aKey,
  aLiveClient,
  anAgent,
  anAgentUnder,
  anIntent,
  aToken,
  made,
  type TestClient,
} from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { tally, times } from '../support/pot-house.ts'
import { traceOf } from '../support/trace.ts'

const house = await startHouse()
const elsewhere = await house.another()

const DAY = 86_400

const advance = (client: TestClient, by: { seconds?: number; minutes?: number; days?: number }) =>
  made(client.sandbox.advance({ body: by }))

const offsetOf = async (client: TestClient): Promise<number> =>
  (await made(client.sandbox.clock())).offsetSeconds

/** How many seconds ahead of real time; what a slow machine takes is no matter. */
const ahead = (iso: string): number => (Date.parse(iso) - Date.now()) / 1_000

const statusOf = async ({ intents }: TestClient, id: string): Promise<string> =>
  (await made(intents.get({ params: { id } }))).status

interface Ended {
  readonly id: string
  readonly due: Date
  readonly at: Date
}

/** What has ended of this owner's, in the order in which it was recorded. */
const endedOf = (ownerId: string): Promise<Ended[]> =>
  house.sql<Ended>(
    `select i.id, i.expires_at as due, e.created_at as at
     from events e join intents i on i.id = e.data ->> 'intentId'
     where e.owner_id = $1 and e.event = 'intent.expired' order by e.id`,
    [ownerId],
  )

/** An intent as often as that, each with its deadline so much after that of the one before; made without requests. */
async function aSeries(client: TestClient, count: number, apart: string): Promise<void> {
  const { id } = await anIntent(client, (await anAgent(client)).id)
  await house.sql(
    `insert into intents select (jsonb_populate_record(i, jsonb_build_object(
       'id', i.id || '_' || n, 'workflow_id', 'intent/' || i.id || '_' || n,
       'expires_at', i.expires_at + n * $3::interval))).*
     from intents i, generate_series(2, $2::int) as n where i.id = $1`,
    [id, count, apart],
  )
}

describe('the test clock', () => {
  test('is real time until it is moved', async () => {
    const { client } = await house.owner()
    const { now, offsetSeconds } = await made(client.sandbox.clock())
    expect(offsetSeconds).toBe(0)
    expect(Math.abs(ahead(now))).toBeLessThan(5)
  })

  test.each([
    [{ seconds: 1 }, 1],
    [{ minutes: 90 }, 5_400],
    [{ days: 1 }, DAY],
    [{ days: 366 }, 366 * DAY],
    [{ seconds: 366 * DAY }, 366 * DAY],
  ])('moves forward by %j, and says so at once', async (by, seconds) => {
    const { client } = await house.owner()
    expect((await made(client.sandbox.clock())).offsetSeconds).toBe(0)
    const moved = await advance(client, by)
    expect(moved.offsetSeconds).toBe(seconds)
    expect(Math.abs(ahead(moved.now) - seconds)).toBeLessThan(5)
    expect(await offsetOf(client)).toBe(seconds)
    expect(Math.abs(ahead((await anAgent(client)).createdAt) - seconds)).toBeLessThan(5)
  })

  test('moves on from where it stands', async () => {
    const { client } = await house.owner()
    await advance(client, { days: 1 })
    await advance(client, { minutes: 1 })
    await advance(client, { seconds: 1 })
    expect(await offsetOf(client)).toBe(DAY + 61)
  })

  test('moves by all that was asked for when it is asked several times at once', async () => {
    const { client, key } = await house.owner()
    const both = [client, clientOf(areas, { url: elsewhere, token: key })]
    const answers = await times(8, index =>
      (both[index % 2] as TestClient).sandbox.advance({ body: { days: 1 } }),
    )
    expect(tally(answers)).toEqual({ 200: 8 })
    expect(await offsetOf(client)).toBe(8 * DAY)
  })

  test('is the same in every process', async () => {
    const { client, key } = await house.owner()
    const other = clientOf(areas, { url: elsewhere, token: key })
    expect(await offsetOf(other)).toBe(0)
    await advance(client, { days: 1 })
    expect(await offsetOf(other)).toBe(DAY)
    await advance(other, { days: 1 })
    expect(await offsetOf(client)).toBe(2 * DAY)
  })

  test('is moved once by one idempotency key', async () => {
    const { client } = await house.owner()
    const ask = () => client.sandbox.advance({ body: { days: 1 }, idempotencyKey: 'once' })
    const [first, again] = [await ask(), await ask()]
    expect(again).toMatchObject({ status: 200, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await offsetOf(client)).toBe(DAY)
  })

  test('leaves an event and an audit entry', async () => {
    const { client, ownerId } = await house.owner()
    const answer = await client.sandbox.advance({ body: { days: 1 } })
    expect(await traceOf(house, answer)).toEqual({
      events: ['clock.advanced'],
      actions: ['sandbox.advance'],
      entries: 1,
    })
    const [event] = (await client.events.list()).body.data
    expect(event).toMatchObject({ event: 'clock.advanced', data: { ownerId, ...answer.body } })
  })

  test.each([
    ['nothing', {}, 'one of'],
    ['two things', { seconds: 1, minutes: 1 }, 'one of'],
    ['no time', { seconds: 0 }, 'seconds'],
    ['time that is gone', { minutes: -1 }, 'minutes'],
    ['half a day', { days: 0.5 }, 'days'],
    ['more than a year', { days: 367 }, 'days'],
    ['more than a year in minutes', { minutes: 366 * 1_440 + 1 }, 'minutes'],
    ['more than a year in seconds', { seconds: 366 * DAY + 1 }, 'seconds'],
    ['a text', { days: '1' }, 'days'],
    ['null', { days: null }, 'days'],
    ['a unit that it does not know', { hours: 1 }, 'hours'],
  ])('is not moved by %s', async (_, body, named) => {
    const { client, key } = await house.owner()
    const answer = await house.http('POST', '/simulate/clock/advance', { token: key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(named)
    expect(await offsetOf(client)).toBe(0)
  })

  test('stays within the years that a date can be written in', async () => {
    const { client, ownerId } = await house.owner()
    await house.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, days(365 * 99 + 300)])
    const answer = await client.sandbox.advance({ body: { days: 366 } })
    expect(answer).toMatchObject({ status: 400, code: 'clock_too_far' })
    expect(await offsetOf(client)).toBe((365 * 99 + 300) * DAY)
  })

  test('is real time in live mode, where nobody moves it', async () => {
    const owner = await house.owner()
    const live = await aLiveClient(house, owner)
    await advance(owner.client, { days: 1 })
    const answer = await live.sandbox.advance({ body: { days: 1 } })
    expect(answer).toMatchObject({ status: 400, code: 'test_mode_only' })
    expect(await offsetOf(live)).toBe(0)
    expect(Math.abs(ahead((await anAgent(live)).createdAt))).toBeLessThan(5)
  })

  test('is the owner’s: no agent moves it, and no key without the scope', async () => {
    const { client } = await house.owner()
    const token = await aToken(client, (await anAgent(client)).id)
    const agent = await house.client(String(token.token)).sandbox.advance({ body: { days: 1 } })
    expect(agent).toMatchObject({ status: 403, code: 'wrong_caller' })
    const reader = house.client(String((await aKey(client, { scopes: ['sandbox:read'] })).key))
    expect(await offsetOf(reader)).toBe(0)
    expect((await reader.sandbox.advance({ body: { days: 1 } })).code).toBe('missing_scope')
    expect(await offsetOf(client)).toBe(0)
  })

  test('moves nobody else’s time', async () => {
    const [owner, stranger] = [await house.owner(), await house.owner()]
    const [mine, theirs] = [await anAgent(owner.client), await anAgent(stranger.client)]
    const ends = { expiresInMinutes: 1 }
    const [one, other] = [
      await anIntent(owner.client, mine.id, ends),
      await anIntent(stranger.client, theirs.id, ends),
    ]
    await advance(owner.client, { days: 1 })
    expect(await statusOf(owner.client, one.id)).toBe('expired')
    expect(await statusOf(stranger.client, other.id)).toBe('created')
    expect(await offsetOf(stranger.client)).toBe(0)
  })
})

describe('what falls due on the way', () => {
  test('happens in order, each at its own instant', async () => {
    const { client, ownerId } = await house.owner()
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
    const ended = await endedOf(ownerId)
    expect(ended).toHaveLength(6)
    expect(ended.map(({ due }) => due)).toEqual(ended.map(({ due }) => due).toSorted((a, b) => +a - +b))
    for (const { due, at } of ended) {
      const late = at.getTime() - due.getTime()
      expect(late).toBeGreaterThanOrEqual(0)
      expect(late).toBeLessThan(minutes(0.5))
    }
    expect((await made(client.intents.list({ query: { status: 'created' } }))).data).toHaveLength(1)
  })

  test('happens at its own instant too where the next one is a millisecond later', async () => {
    const { client, ownerId } = await house.owner()
    await aSeries(client, 40, '3 milliseconds')
    await advance(client, { days: 2 })
    const ended = await endedOf(ownerId)
    expect(ended).toHaveLength(40)
    for (const { due, at } of ended) expect(at.getTime() - due.getTime()).toBeLessThan(minutes(0.5))
  })

  test('happens in order over all nouns', async () => {
    const { client, ownerId } = await house.owner()
    const agent = await anAgentUnder(client, { expiresAfterMinutes: 30 })
    for (const expiresInMinutes of [45, 15]) await anIntent(client, agent.id, { expiresInMinutes })
    await advance(client, { minutes: 60 })
    const events = await house.sql<{ event: string }>(
      `select event from events where owner_id = $1 and event like '%.expired' order by created_at, id`,
      [ownerId],
    )
    expect(events.map(({ event }) => event)).toEqual(['intent.expired', 'policy.expired', 'intent.expired'])
  })

  test('happens at the very instant to which the clock is moved, and not before', async () => {
    const { client } = await house.owner()
    const { id } = await anIntent(client, (await anAgent(client)).id, { expiresInMinutes: 2 })
    await advance(client, { minutes: 1 })
    expect(await statusOf(client, id)).toBe('created')
    await advance(client, { minutes: 1 })
    expect(await statusOf(client, id)).toBe('expired')
  })

  test('happens before the answer, even where it is overdue already', async () => {
    const { client, ownerId } = await house.owner()
    const { id } = await anIntent(client, (await anAgent(client)).id, { expiresInMinutes: 1 })
    await house.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, days(1)])
    await advance(client, { seconds: 1 })
    expect(await statusOf(client, id)).toBe('expired')
  })

  test('may be a thousand at the same second', async () => {
    const { client, ownerId, key } = await house.owner()
    await aSeries(client, 1_000, '0')
    const answer = await house.http('POST', '/simulate/clock/advance', { token: key, body: { days: 2 } })
    expect(answer).toMatchObject({ status: 200, body: { offsetSeconds: 2 * DAY } })
    const ended = await endedOf(ownerId)
    expect(new Set(ended.map(({ id }) => id)).size).toBe(1_000)
    expect(ended).toHaveLength(1_000)
    const [left] = await house.sql(
      `select count(*) filter (where status <> 'expired')::int as open,
        (select count(*)::int from audit_entries where owner_id = $1 and event = 'intent.expired') as audit
       from intents where owner_id = $1`,
      [ownerId],
    )
    expect(left).toEqual({ open: 0, audit: 1_000 })
  })

  test('may be hundreds, each at an instant of its own', async () => {
    const { client, ownerId, key } = await house.owner()
    await aSeries(client, 400, '1 minute')
    const answer = await house.http('POST', '/simulate/clock/advance', { token: key, body: { days: 30 } })
    expect(answer).toMatchObject({ status: 200, body: { offsetSeconds: 30 * DAY } })
    const ended = await endedOf(ownerId)
    expect(ended).toHaveLength(400)
    for (const { due, at } of ended) {
      expect(at.getTime()).toBeGreaterThanOrEqual(due.getTime())
      expect(at.getTime()).toBeLessThan(due.getTime() + minutes(1))
    }
  })

  test('happens once, in order, when the clock is moved twice at once', async () => {
    const { client, ownerId } = await house.owner()
    const agent = await anAgent(client)
    for (const expiresInMinutes of [10, 20, 30, 40, 50, 2_000])
      await anIntent(client, agent.id, { expiresInMinutes })
    await Promise.all([advance(client, { days: 1 }), advance(client, { days: 1 })])
    const ended = await endedOf(ownerId)
    expect(ended).toHaveLength(6)
    expect(ended.map(({ due }) => due)).toEqual(ended.map(({ due }) => due).toSorted((a, b) => +a - +b))
    expect(await offsetOf(client)).toBe(2 * DAY)
  })
})
