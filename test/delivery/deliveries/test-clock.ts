import { describe, expect, test } from '@jest/globals'
import { formatMinute } from '../../../src/values/minute.ts'
import { deliveriesOf, untilDelivery } from '../../support/delivery/deliveries.ts'
import { respondWith, startReceiver } from '../../support/delivery/receiver.ts'
import { subscriptionsIn } from '../../support/delivery/subscriptions.ts'
import { aLiveClient, anAgent, aWebhook, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const receiver = await startReceiver()
const service = await startTestService({ deliverers: 2, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const { subscribed } = subscriptionsIn(service, receiver)

/** A delivery that failed once, on a plan with further attempts after 1, 5, 15 and 60 minutes. */
async function failedDelivery() {
  const subscription = await subscribed(respondWith(500), 'enterprise')
  await anAgent(subscription.client)
  const first = await untilDelivery(
    subscription.client,
    subscription.id,
    ({ status, attempts }) => status === 'pending' && attempts.length === 1,
  )
  const advance = (minutes: number) => bodyOf(subscription.client.sandbox.advance({ body: { minutes } }))
  return { ...subscription, first, advance }
}

const MINUTE = 60_000

describe('a test clock', () => {
  test('moved beyond all further attempts makes them, until the delivery is a dead letter', async () => {
    const { client, id, path, advance } = await failedDelivery()
    await advance(90)
    const dead = await untilDelivery(client, id, delivery => delivery.status === 'dead')
    expect(dead.attempts).toHaveLength(5)
    for (const { headers } of receiver.at(path))
      expect(Math.abs(Number(headers['x-service-timestamp']) * 1_000 - Date.now())).toBeLessThan(MINUTE)
    // The receiver was paused meanwhile, by the advanced clock.
    expect((await bodyOf(client.webhooks.get({ params: { id } }))).health.condition).toBe('failing')
  })

  test('makes the attempts that fall due and no others, and the next attempt is shown in its time', async () => {
    const { client, id, first, advance } = await failedDelivery()
    const { now } = await advance(7)
    // One minute after the first attempt, five after the second, and fifteen later.
    const due = Date.parse(String(first.nextAttemptAt)) + 20 * MINUTE
    const third = await untilDelivery(
      client,
      id,
      ({ nextAttemptAt }) => Math.abs(Date.parse(String(nextAttemptAt)) - due) < MINUTE,
    )
    expect([third.status, third.attempts.length]).toEqual(['pending', 3])
    expect(third.explanation).toContain(
      `Attempt 4 is made at ${formatMinute(new Date(String(third.nextAttemptAt)))}`,
    )
    const minutesLeft = Math.round((Date.parse(String(third.nextAttemptAt)) - Date.parse(now)) / MINUTE)
    // At least half a minute before the next attempt, so that no pause of the machine reaches it.
    await advance(minutesLeft - 1)
    expect((await deliveriesOf(client, id))[0]?.attempts).toHaveLength(3)
    await advance(2)
    await untilDelivery(client, id, ({ attempts }) => attempts.length === 4)
  })

  test('of one owner affects no other owner and not live mode', async () => {
    const owner = await service.owner()
    const live = await aLiveClient(service, owner)
    receiver.treat('/live', respondWith(500))
    const { id } = await aWebhook(live, { url: `${receiver.url}/live`, events: ['agent.created'] })
    await anAgent(live)
    const other = await failedDelivery()
    const waiting = await untilDelivery(
      live,
      id,
      ({ status, attempts }) => status === 'pending' && attempts.length === 1,
    )
    await bodyOf(owner.client.sandbox.advance({ body: { days: 1 } }))
    const rows = `select due_at - now() > interval '30 seconds' as waits, ahead_ms from deliveries where id = any($1)`
    expect(await service.sql(rows, [[waiting.id, other.first.id]])).toEqual([
      { waits: true, ahead_ms: 0 },
      { waits: true, ahead_ms: 0 },
    ])
    expect((await live.webhooks.delivery({ params: { id: waiting.id } })).body).toEqual(waiting)
  })

  test('moved by five days disables a receiver that keeps failing', async () => {
    const { client, id, advance } = await failedDelivery()
    await service.sql('update webhooks set failures = 9 where id = $1', [id])
    await advance(6 * 24 * 60)
    await untilDelivery(client, id, delivery => delivery.attempts.length >= 2)
    const disabled = await untilDelivery(client, id, delivery => delivery.explanation.includes('five days'))
    expect(disabled.status).toBe('pending')
  })
})
