import './sandbox/card-network.ts'
import './sandbox/card-network-crashes.ts'
import './sandbox/card-network-refusals.ts'
import './sandbox/sandbox-deadlines.ts'
import { describe, expect, test } from '@jest/globals'
import { days } from '../../src/values/clock.ts'
import { statusCounts, times } from '../support/at-once.ts'
import { clientAt } from '../support/client.ts'
import {
  aKey,
  aLiveClient,
  anAgent,
  anIntent,
  aToken,
  bodyOf,
  type TestClient,
} from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { advance, DAY, offsetOf, statusOf } from '../support/sandbox.ts'
import { traceOf } from '../support/trace.ts'

const service = await startTestService()
const elsewhere = await service.another()

/** Seconds ahead of real time; a slow machine makes no difference. */
const secondsAhead = (iso: string): number => (Date.parse(iso) - Date.now()) / 1_000

describe('the test clock', () => {
  test('shows real time until it is moved', async () => {
    const { client } = await service.owner()
    const { now, offsetSeconds } = await bodyOf(client.sandbox.clock())
    expect(offsetSeconds).toBe(0)
    expect(Math.abs(secondsAhead(now))).toBeLessThan(30)
  })

  test.each([
    [{ seconds: 1 }, 1],
    [{ minutes: 90 }, 5_400],
    [{ days: 1 }, DAY],
    [{ days: 366 }, 366 * DAY],
    [{ seconds: 366 * DAY }, 366 * DAY],
  ])('moves forward by %j, and shows that at once', async (by, seconds) => {
    const { client } = await service.owner()
    expect((await bodyOf(client.sandbox.clock())).offsetSeconds).toBe(0)
    const moved = await advance(client, by)
    expect(moved.offsetSeconds).toBe(seconds)
    expect(Math.abs(secondsAhead(moved.now) - seconds)).toBeLessThan(30)
    expect(await offsetOf(client)).toBe(seconds)
    expect(Math.abs(secondsAhead((await anAgent(client)).createdAt) - seconds)).toBeLessThan(30)
  })

  test('advances from its present time', async () => {
    const { client } = await service.owner()
    await advance(client, { days: 1 })
    await advance(client, { minutes: 1 })
    await advance(client, { seconds: 1 })
    expect(await offsetOf(client)).toBe(DAY + 61)
  })

  test('moves by the sum of concurrent requests', async () => {
    const { client, key } = await service.owner()
    const both = [client, clientAt({ url: elsewhere, token: key })]
    const answers = await times(8, index =>
      (both[index % 2] as TestClient).sandbox.advance({ body: { days: 1 } }),
    )
    expect(statusCounts(answers)).toEqual({ 200: 8 })
    expect(await offsetOf(client)).toBe(8 * DAY)
  })

  test('is the same in every process', async () => {
    const { client, key } = await service.owner()
    const otherIntent = clientAt({ url: elsewhere, token: key })
    expect(await offsetOf(otherIntent)).toBe(0)
    await advance(client, { days: 1 })
    expect(await offsetOf(otherIntent)).toBe(DAY)
    await advance(otherIntent, { days: 1 })
    expect(await offsetOf(client)).toBe(2 * DAY)
  })

  test('is moved once for one idempotency key', async () => {
    const { client } = await service.owner()
    const ask = () => client.sandbox.advance({ body: { days: 1 }, idempotencyKey: 'once' })
    const [first, again] = [await ask(), await ask()]
    expect(again).toMatchObject({ status: 200, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await offsetOf(client)).toBe(DAY)
  })

  test('records an event, which the audit trail shows', async () => {
    const { client, ownerId } = await service.owner()
    const answer = await client.sandbox.advance({ body: { days: 1 } })
    expect(await traceOf(service, answer)).toEqual({
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
  ])('is not moved by %s', async (_, body, field) => {
    const { client, key } = await service.owner()
    const answer = await service.http('POST', '/simulate/clock/advance', { token: key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(field)
    expect(await offsetOf(client)).toBe(0)
  })

  test('stays within the years that a date can express', async () => {
    const { client, ownerId } = await service.owner()
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, days(365 * 99 + 300)])
    const answer = await client.sandbox.advance({ body: { days: 366 } })
    expect(answer).toMatchObject({ status: 400, code: 'clock_too_far' })
    expect(await offsetOf(client)).toBe((365 * 99 + 300) * DAY)
  })

  test('is real time in live mode and cannot be moved', async () => {
    const owner = await service.owner()
    const live = await aLiveClient(service, owner)
    await advance(owner.client, { days: 1 })
    const answer = await live.sandbox.advance({ body: { days: 1 } })
    expect(answer).toMatchObject({ status: 400, code: 'test_mode_only' })
    expect(await offsetOf(live)).toBe(0)
    expect(Math.abs(secondsAhead((await anAgent(live)).createdAt))).toBeLessThan(30)
  })

  test('is moved by its owner only, with the scope', async () => {
    const { client } = await service.owner()
    const token = await aToken(client, (await anAgent(client)).id)
    const agent = await service.client(String(token.token)).sandbox.advance({ body: { days: 1 } })
    expect(agent).toMatchObject({ status: 403, code: 'wrong_caller' })
    const reader = service.client(String((await aKey(client, { scopes: ['sandbox:read'] })).key))
    expect(await offsetOf(reader)).toBe(0)
    expect((await reader.sandbox.advance({ body: { days: 1 } })).code).toBe('missing_scope')
    expect(await offsetOf(client)).toBe(0)
  })

  test('of one owner does not affect another', async () => {
    const [owner, stranger] = [await service.owner(), await service.owner()]
    const [ownAgent, otherAgent] = [await anAgent(owner.client), await anAgent(stranger.client)]
    const ends = { expiresInMinutes: 1 }
    const [ownIntent, otherIntent] = [
      await anIntent(owner.client, ownAgent.id, ends),
      await anIntent(stranger.client, otherAgent.id, ends),
    ]
    await advance(owner.client, { days: 1 })
    expect(await statusOf(owner.client, ownIntent.id)).toBe('expired')
    expect(await statusOf(stranger.client, otherIntent.id)).toBe('created')
    expect(await offsetOf(stranger.client)).toBe(0)
  })
})
