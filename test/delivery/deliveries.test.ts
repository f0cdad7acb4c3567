import './deliveries/replayed-by-filter.ts'
import './deliveries/test-clock.ts'
import './deliveries/failing-receivers.ts'
import './deliveries/leased-deliveries.ts'
import './deliveries/lost-claims.ts'
import './deliveries/many.ts'
import { describe, expect, test } from '@jest/globals'
import { times } from '../support/at-once.ts'
import { deliveriesOf, makeDue, untilDelivery } from '../support/delivery/deliveries.ts'
import { type Behavior, respondWith, startReceiver } from '../support/delivery/receiver.ts'
import { subscriptionsIn } from '../support/delivery/subscriptions.ts'
import { anAgent, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { until } from '../support/until.ts'

const receiver = await startReceiver()
const closing = await startReceiver()
const service = await startTestService({ deliverers: 2, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const { subscribed } = subscriptionsIn(service, receiver)

describe('a delivery that fails', () => {
  const MINUTE = 60_000
  test.each([
    ['free', [], 'failed'],
    ['starter', [], 'failed'],
    ['business', [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE], 'failed'],
    ['enterprise', [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE], 'dead'],
  ] as const)('on the plan %s is tried again after %j, and then is %s', async (plan, waits, finalStatus) => {
    const { client, path, id } = await subscribed(respondWith(500, 'Out of order'), plan)
    await anAgent(client)
    for (const [n, wait] of waits.entries()) {
      const waiting = await untilDelivery(
        client,
        id,
        delivery => delivery.status === 'pending' && delivery.attempts.length === n + 1,
      )
      const since = Date.parse(String(waiting.attempts.at(-1)?.at))
      const waited = Date.parse(String(waiting.nextAttemptAt)) - since
      expect(waited).toBeGreaterThanOrEqual(wait)
      expect(waited).toBeLessThan(wait + MINUTE / 2)
      expect(waiting.workflowId).toBe(`webhook/${waiting.id}`)
      await makeDue(service, waiting.id)
    }
    const last = await untilDelivery(client, id, delivery => delivery.status === finalStatus)
    expect(last).toMatchObject({ nextAttemptAt: null, explanation: expect.stringContaining('answered 500') })
    expect(last.attempts.map(({ status, responseStart }) => [status, responseStart])).toEqual(
      Array.from({ length: waits.length + 1 }, () => [500, 'Out of order']),
    )
    const sent = receiver.at(path)
    expect(new Set(sent.map(request => request.deliveryId)).size).toBe(sent.length)
    expect(last.attempts.map(({ deliveryId }) => deliveryId)).toEqual(sent.map(request => request.deliveryId))
    expect(new Set(sent.map(request => request.body)).size).toBe(1)
  })

  test('follows the owner’s plan at the time of each attempt', async () => {
    const { client, ownerId, id } = await subscribed(respondWith(500), 'enterprise')
    await anAgent(client)
    const waiting = await untilDelivery(
      client,
      id,
      delivery => delivery.attempts.length === 1 && delivery.status === 'pending',
    )
    await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan: 'free' } }))
    await makeDue(service, waiting.id)
    expect((await untilDelivery(client, id, delivery => delivery.status === 'failed')).attempts).toHaveLength(
      2,
    )
  })

  test.each([
    [
      '301 to the metadata address',
      respondWith(301, '', { location: 'http://169.254.169.254/' }),
      /redirects are not/,
    ],
    ['a 410', respondWith(410), /answered 410/],
    [
      'half an answer',
      (r: Parameters<Behavior>[0]) =>
        void r.writeHead(200, { 'content-length': '9' }).write('x', () => r.destroy()),
      /closed/,
    ],
  ] as [string, Behavior, RegExp][])('with the answer %s is a failed delivery', async (_, behavior, why) => {
    const { client, path, id } = await subscribed(behavior, 'free')
    await anAgent(client)
    const failed = await untilDelivery(client, id, delivery => delivery.status === 'failed')
    expect(failed.attempts[0]?.error).toMatch(why)
    expect(receiver.at(path)).toHaveLength(1)
  })

  test('because a kept-alive connection was closed is sent again at once on a new one', async () => {
    const usedSockets = new WeakSet<object>()
    let isHealthy = true
    const behavior: Behavior = response => {
      const { socket } = response
      if (!socket || usedSockets.has(socket) || !isHealthy) response.destroy()
      else response.writeHead(204).end()
      if (socket) usedSockets.add(socket)
    }
    const { client, path, id } = await subscribed(behavior, 'free', closing)
    const createAgentAndWait = async () => {
      const before = (await deliveriesOf(client, id)).length
      await anAgent(client)
      await until('it is made', async () => (await deliveriesOf(client, id)).length > before)
      return untilDelivery(client, id, ({ status }) => status !== 'pending' && status !== 'delivering')
    }
    for (let n = 0; n < 3; n++)
      expect(await createAgentAndWait()).toMatchObject({ status: 'delivered', attempts: [{}] })
    isHealthy = false
    const failed = await createAgentAndWait()
    expect(failed).toMatchObject({ status: 'failed', attempts: [{ error: expect.stringMatching(/closed/) }] })
    const ids = closing.at(path).map(({ deliveryId }) => deliveryId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter(deliveryId => /-1\.\d+\.2$/.test(deliveryId)).length).toBeGreaterThan(0)
    expect(ids.at(-1)).toBe(failed.attempts[0]?.deliveryId)
  })

  test('waits as long as the receiver’s Retry-After says, at most four hours', async () => {
    const asks: readonly [string, number][] = [
      ['600', 600],
      ['999999', 4 * 3_600],
      ['1', 60],
    ]
    for (const [retryAfter, seconds] of asks) {
      const { client, id } = await subscribed(respondWith(503, '', { 'retry-after': retryAfter }))
      await anAgent(client)
      const delivery = await untilDelivery(
        client,
        id,
        ({ attempts, status }) => status === 'pending' && attempts.length === 1,
      )
      const waited = Date.parse(String(delivery.nextAttemptAt)) - Date.parse(String(delivery.attempts[0]?.at))
      expect(Math.abs(waited - seconds * 1_000)).toBeLessThan(30_000)
    }
  })

  test('shows the beginning of the answer with its secrets redacted', async () => {
    const answerText =
      'oh\u0000 no: Bearer abcdef123456, card 4242 4242 4242 4242, {"password":"hunter2hunter2"} end'
    const { client, id } = await subscribed(respondWith(500, answerText), 'free')
    await anAgent(client)
    const failed = await untilDelivery(client, id, delivery => delivery.status === 'failed')
    expect(failed.attempts[0]?.responseStart).toBe(
      'oh no: [redacted], card [redacted], {"password":"[redacted]"} end',
    )
  })

  test('because its address now leads to a private network is refused', async () => {
    const { client, id } = await subscribed(respondWith(204), 'free')
    await service.sql(`update webhooks set url = 'http://10.0.0.1/hook' where id = $1`, [id])
    await anAgent(client)
    const failed = await untilDelivery(client, id, delivery => delivery.status === 'failed')
    expect(failed.attempts[0]).toMatchObject({
      status: null,
      error: expect.stringMatching(/10\.0\.0\.1|private/i),
    })
  })
})

describe('a dead letter', () => {
  test('is listed, and replayed alone or with all that match', async () => {
    let answer = 500
    const { client, path, id } = await subscribed(
      response => void response.writeHead(answer).end(),
      'enterprise',
    )
    await times(3, () => anAgent(client))
    const dead = async () => (await bodyOf(client.webhooks.deadLetters({ query: { webhookId: id } }))).data
    await until('they are dead', async () => {
      await service.sql('update webhooks set paused_until = null where id = $1', [id])
      await service.sql(`update deliveries set due_at = now() where webhook_id = $1 and status = 'pending'`, [
        id,
      ])
      await service.sql('notify deliveries')
      return (await dead()).length === 3
    })
    answer = 204
    const [deadLetter] = await dead()
    await bodyOf(client.webhooks.replay({ params: { id: String(deadLetter?.id) } }))
    await until('it is delivered', async () => (await dead()).length === 2)
    const replay = (body: object) => bodyOf(client.webhooks.replayDeadLetters({ body }))
    expect(await replay({ event: 'agent.frozen' })).toEqual({ replayed: 0, more: false })
    expect(await replay({ webhookId: id, event: 'agent.created' })).toEqual({ replayed: 2, more: false })
    await until('all are delivered', async () =>
      (await deliveriesOf(client, id)).every(({ status }) => status === 'delivered'),
    )
    expect(receiver.at(path)).toHaveLength(18)
    const other = await service.owner()
    expect((await other.client.webhooks.replay({ params: { id: String(deadLetter?.id) } })).status).toBe(404)
    expect((await other.client.webhooks.delivery({ params: { id: String(deadLetter?.id) } })).status).toBe(
      404,
    )
  })
})

describe('many deliveries', () => {
  test('to slow receivers delay no other receiver', async () => {
    const openAnswers: (() => void)[] = []
    const slow = await Promise.all(
      Array.from({ length: 6 }, () =>
        subscribed(response => void openAnswers.push(() => response.writeHead(204).end())),
      ),
    )
    for (const { client } of slow) await times(6, () => anAgent(client))
    await until('they are all waited for', () => openAnswers.length >= 24)
    const quick = await subscribed(respondWith(204))
    await times(5, () => anAgent(quick.client))
    await until('the quick one has its five', () => receiver.at(quick.path).length === 5)
    // Their timeout did not make room: none of their attempts has ended.
    const waiting = await Promise.all(slow.map(({ client, id }) => deliveriesOf(client, id)))
    expect(waiting.flat().flatMap(({ attempts }) => attempts)).toEqual([])
    const answer = setInterval(() => openAnswers.splice(0).forEach(release => void release()), 20)
    await until('the slow ones have theirs', () =>
      slow.every(({ path }) => receiver.at(path).length === 6),
    ).finally(() => clearInterval(answer))
  })
})
