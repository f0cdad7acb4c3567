import { describe, expect, test } from '@jest/globals'
import { deliveriesOf, delivery, letItBeDue } from '../../support/delivery/deliveries.ts'
import { answering, type Manner, startReceiver } from '../../support/delivery/receiver.ts'
import { subscriptionsIn } from '../../support/delivery/subscribed.ts'
import { anAgent, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { times } from '../../support/sample-service.ts'
import { until } from '../../support/until.ts'

const receiver = await startReceiver()
const service = await startTestService({ deliverers: 2, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const { subscribed } = subscriptionsIn(service, receiver)
const statusOf = async (client: TestClient, id: string) => bodyOf(client.webhooks.get({ params: { id } }))

describe('a receiver that keeps failing', () => {
  test('is tried more and more rarely, and served again after its first success', async () => {
    let isWell = false
    const manner: Manner = response => void response.writeHead(isWell ? 200 : 500).end()
    const { client, path, id } = await subscribed(manner, 'free')
    const paused = await until('it is left alone', async () => {
      // Failures of one round count once.
      await anAgent(client)
      const { health } = await statusOf(client, id)
      return health.condition === 'paused' ? health : undefined
    })
    expect(paused.message).toMatch(/None has been taken since/)
    await until('nothing is under way', async () =>
      (await deliveriesOf(client, id)).every(({ status }) => status !== 'delivering'),
    )
    await times(3, () => anAgent(client))
    const waiting = (await deliveriesOf(client, id)).filter(({ status }) => status === 'pending')
    expect(waiting.length).toBeGreaterThan(0)
    expect(waiting[0]?.explanation).toMatch(/left alone until/)
    const before = receiver.at(path).length

    await service.sql(`update webhooks set paused_until = now() where id = $1`, [id])
    await service.sql('notify deliveries')
    await until('it is probed', () => receiver.at(path).length > before)
    await until('the pause is longer', async () => {
      const { pausedUntil } = (await statusOf(client, id)).health
      return pausedUntil !== null && Date.parse(pausedUntil) > Date.parse(String(paused.pausedUntil))
    })
    // Each of the two processes may have tried one.
    expect(receiver.at(path).length - before).toBeLessThanOrEqual(2)

    isWell = true
    expect(await bodyOf(client.webhooks.test({ params: { id } }))).toMatchObject({ delivered: true })
    await until('the rest arrives', async () =>
      (await deliveriesOf(client, id)).every(({ status }) => status === 'delivered' || status === 'failed'),
    )
    expect((await statusOf(client, id)).health.condition).toBe('well')
  })

  test('for five days is given up, with an event', async () => {
    const { client, id } = await subscribed(answering(500), 'free')
    await service.sql(
      `update webhooks set failures = 20, failing_since = now() - interval '6 days' where id = $1`,
      [id],
    )
    await anAgent(client)
    await until('it is disabled', async () => (await statusOf(client, id)).status === 'disabled')
    expect(await statusOf(client, id)).toMatchObject({ statusReason: expect.stringContaining('five days') })
    const told = await bodyOf(client.events.list({ query: { event: 'webhook.disabled' } }))
    expect(told.data).toMatchObject([{ data: { webhookId: id, status: 'disabled' } }])
    await bodyOf(client.webhooks.update({ params: { id }, body: { status: 'active' } }))
    expect(await statusOf(client, id)).toMatchObject({ statusReason: null, health: { condition: 'well' } })
  })

  test('is disabled at once after a 410', async () => {
    const { client, id } = await subscribed(answering(410))
    await anAgent(client)
    await until('it is disabled', async () => (await statusOf(client, id)).status === 'disabled')
    expect((await statusOf(client, id)).statusReason).toMatch(/410/)
    const waiting = await delivery(client, id, one => one.status === 'pending')
    expect(waiting.explanation).toBe(
      'It waits until the subscription is active again. The receiver answered 410: it wants nothing more.',
    )
  })
})

describe('a subscription', () => {
  test('that is deleted during a delivery gets no further one', async () => {
    const held: (() => void)[] = []
    const { client, path, id } = await subscribed(
      response => void held.push(() => response.writeHead(500).end()),
    )
    await anAgent(client)
    await until('it flies', () => held.length === 1)
    const [flying] = await deliveriesOf(client, id)
    expect(flying?.status).toBe('delivering')
    const params = { id: String(flying?.id) }
    expect((await client.webhooks.replay({ params })).code).toBe('delivery_under_way')
    await bodyOf(client.webhooks.delete({ params: { id } }))
    await anAgent(client)
    held[0]?.()
    const after = await until('it is noted', async () => {
      const one = await bodyOf(client.webhooks.delivery({ params }))
      return one.status === 'pending' ? one : undefined
    })
    expect(after.explanation).toMatch(/^The subscription is deleted/)
    await letItBeDue(service, params.id)
    expect(receiver.at(path)).toHaveLength(1)
    expect((await client.webhooks.deliveries({ params: { id } })).code).toBe('webhook_not_found')
  })

  test('that is disabled gets no new events, and what waited once it is active again', async () => {
    let answer = 500
    const { client, path, id } = await subscribed(response => void response.writeHead(answer).end())
    const first = await anAgent(client)
    const waiting = await delivery(client, id, one => one.status === 'pending' && one.attempts.length === 1)
    await bodyOf(client.webhooks.update({ params: { id }, body: { status: 'disabled' } }))
    await anAgent(client)
    await letItBeDue(service, waiting.id)
    answer = 204
    await bodyOf(client.webhooks.update({ params: { id }, body: { status: 'active' } }))
    await delivery(client, id, one => one.status === 'delivered')
    expect(receiver.at(path).map(({ body }) => JSON.parse(body).data.agentId)).toEqual([first.id, first.id])
  })
})
