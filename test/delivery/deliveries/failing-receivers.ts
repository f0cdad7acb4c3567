import { describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { deliveriesOf, makeDue, untilDelivery } from '../../support/delivery/deliveries.ts'
import { type Behavior, respondWith, startReceiver } from '../../support/delivery/receiver.ts'
import { subscriptionsIn } from '../../support/delivery/subscriptions.ts'
import { anAgent, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const receiver = await startReceiver()
const service = await startTestService({ deliverers: 2, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const { subscribed } = subscriptionsIn(service, receiver)
const webhookOf = async (client: TestClient, id: string) => bodyOf(client.webhooks.get({ params: { id } }))

describe('a receiver that keeps failing', () => {
  test('is tried more and more rarely, and served again after its first success', async () => {
    let isHealthy = false
    const behavior: Behavior = response => void response.writeHead(isHealthy ? 200 : 500).end()
    const { client, path, id } = await subscribed(behavior, 'free')
    const paused = await until('it is left alone', async () => {
      // All failures of one round count as one.
      await anAgent(client)
      const { health } = await webhookOf(client, id)
      return health.condition === 'paused' ? health : undefined
    })
    expect(paused.message).toMatch(/have failed since/)
    await until('nothing is under way', async () =>
      (await deliveriesOf(client, id)).every(({ status }) => status !== 'delivering'),
    )
    await times(3, () => anAgent(client))
    const waiting = await until('they wait', async () => {
      const pending = (await deliveriesOf(client, id)).filter(({ status }) => status === 'pending')
      return pending.length >= 3 ? pending : undefined
    })
    expect(waiting[0]?.explanation).toMatch(/is paused until/)
    const before = receiver.at(path).length

    await service.sql(`update webhooks set paused_until = now() where id = $1`, [id])
    await service.sql('notify deliveries')
    await until('it is probed', () => receiver.at(path).length > before)
    await until('the pause is longer', async () => {
      const { pausedUntil } = (await webhookOf(client, id)).health
      return pausedUntil !== null && Date.parse(pausedUntil) > Date.parse(String(paused.pausedUntil))
    })
    // Each of the two processes may have sent one attempt.
    expect(receiver.at(path).length - before).toBeLessThanOrEqual(2)

    isHealthy = true
    expect(await bodyOf(client.webhooks.test({ params: { id } }))).toMatchObject({ delivered: true })
    await until('the rest arrives', async () =>
      (await deliveriesOf(client, id)).every(({ status }) => status === 'delivered' || status === 'failed'),
    )
    expect((await webhookOf(client, id)).health.condition).toBe('well')
  })

  test('for five days is disabled, with an event', async () => {
    const { client, id } = await subscribed(respondWith(500), 'free')
    await service.sql(
      `update webhooks set failures = 20, failing_since = now() - interval '6 days' where id = $1`,
      [id],
    )
    await anAgent(client)
    await until('it is disabled', async () => (await webhookOf(client, id)).status === 'disabled')
    expect(await webhookOf(client, id)).toMatchObject({ statusReason: expect.stringContaining('five days') })
    const disabledEvents = await bodyOf(client.events.list({ query: { event: 'webhook.disabled' } }))
    expect(disabledEvents.data).toMatchObject([{ data: { webhookId: id, status: 'disabled' } }])
    await bodyOf(client.webhooks.update({ params: { id }, body: { status: 'active' } }))
    expect(await webhookOf(client, id)).toMatchObject({ statusReason: null, health: { condition: 'well' } })
  })

  test('is disabled at once after a 410', async () => {
    const { client, id } = await subscribed(respondWith(410))
    await anAgent(client)
    await until('it is disabled', async () => (await webhookOf(client, id)).status === 'disabled')
    expect((await webhookOf(client, id)).statusReason).toMatch(/410/)
    const waiting = await untilDelivery(client, id, delivery => delivery.status === 'pending')
    expect(waiting.explanation).toBe(
      'The delivery waits until the subscription is active again. The receiver answered 410 (Gone).',
    )
  })
})

describe('a subscription', () => {
  test('that is deleted during an attempt gets no further one', async () => {
    const openAnswers: (() => void)[] = []
    const { client, path, id } = await subscribed(
      response => void openAnswers.push(() => response.writeHead(500).end()),
    )
    await anAgent(client)
    await until('it flies', () => openAnswers.length === 1)
    const underWay = await untilDelivery(client, id, ({ status }) => status === 'delivering')
    const params = { id: underWay.id }
    expect((await client.webhooks.replay({ params })).code).toBe('delivery_under_way')
    await bodyOf(client.webhooks.delete({ params: { id } }))
    await anAgent(client)
    openAnswers[0]?.()
    const after = await until('it is noted', async () => {
      const delivery = await bodyOf(client.webhooks.delivery({ params }))
      return delivery.status === 'pending' ? delivery : undefined
    })
    expect(after.explanation).toMatch(/^The subscription is deleted/)
    await makeDue(service, params.id)
    expect(receiver.at(path)).toHaveLength(1)
    expect((await client.webhooks.deliveries({ params: { id } })).code).toBe('webhook_not_found')
  })

  test('that is disabled gets no new events, and its waiting deliveries once it is active again', async () => {
    let answer = 500
    const { client, path, id } = await subscribed(response => void response.writeHead(answer).end())
    const first = await anAgent(client)
    const waiting = await untilDelivery(
      client,
      id,
      delivery => delivery.status === 'pending' && delivery.attempts.length === 1,
    )
    await bodyOf(client.webhooks.update({ params: { id }, body: { status: 'disabled' } }))
    await anAgent(client)
    await makeDue(service, waiting.id)
    expect(receiver.at(path)).toHaveLength(1)
    answer = 204
    await bodyOf(client.webhooks.update({ params: { id }, body: { status: 'active' } }))
    // Its run, which begins again with Temporal, has the first half minute.
    await makeDue(service, waiting.id)
    await untilDelivery(client, id, delivery => delivery.status === 'delivered')
    expect(receiver.at(path).map(({ body }) => JSON.parse(body).data.agentId)).toEqual([first.id, first.id])
  })
})
