import { describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { deliveriesOf } from '../../support/delivery/deliveries.ts'
import { respondWith, startReceiver } from '../../support/delivery/receiver.ts'
import { subscriptionsIn } from '../../support/delivery/subscriptions.ts'
import { anAgent, aWebhook, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { withConnection } from '../../support/rows.ts'
import { until } from '../../support/until.ts'

const receiver = await startReceiver()
const service = await startTestService({ deliverers: 1, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const { subscribed } = subscriptionsIn(service, receiver)

const allDelivered = (client: TestClient, id: string, count: number) =>
  until('all are delivered', async () => {
    const deliveries = await deliveriesOf(client, id)
    return deliveries.length === count && deliveries.every(({ status }) => status === 'delivered')
  })

const requestOf = async (client: TestClient, agentId: string): Promise<string> => {
  const { data } = await bodyOf(client.events.list({ query: { event: 'agent.created', agentId } }))
  return String(data[0]?.requestId)
}

describe('what was sent to all subscriptions', () => {
  test('is found by the event and by the request that caused it, of each owner alone', async () => {
    const { client, id } = await subscribed(respondWith(200))
    const [first, second] = await times(2, () => anAgent(client))
    await allDelivered(client, id, 2)
    const requestId = await requestOf(client, String(first?.id))
    const { data: events } = await bodyOf(client.events.list({ query: { requestId } }))
    expect(events.map(({ event }) => event).sort()).toEqual(['agent.created', 'wallet.created'])
    const eventId = String(events.find(({ event }) => event === 'agent.created')?.id)
    for (const query of [{ requestId }, { eventId }, { requestId, eventId, status: 'delivered' as const }]) {
      const { data } = await bodyOf(client.webhooks.allDeliveries({ query }))
      expect(data.map(delivery => delivery.eventId)).toEqual([eventId])
    }
    const nothing = [
      { requestId: 'no-such-request' },
      { requestId, status: 'failed' as const },
      { requestId: await requestOf(client, String(second?.id)), eventId },
    ]
    for (const query of nothing)
      expect((await bodyOf(client.webhooks.allDeliveries({ query }))).data).toEqual([])
    const { client: stranger } = await service.owner()
    for (const query of [{ requestId }, { eventId }])
      expect((await bodyOf(stranger.webhooks.allDeliveries({ query }))).data).toEqual([])
  })
})

describe('a replay by a filter', () => {
  test('makes once more what matches, whatever became of it, and nothing else', async () => {
    const { client, id, path } = await subscribed(respondWith(200))
    const agents = await times(3, () => anAgent(client))
    await allDelivered(client, id, 3)
    const replay = (body: object) => bodyOf(client.webhooks.replayDeliveries({ body }))
    expect(await replay({})).toEqual({ replayed: 0, more: false, last: null })
    expect(await replay({ status: 'delivered', event: 'agent.frozen' })).toMatchObject({ replayed: 0 })
    expect(await replay({ status: 'dead' })).toMatchObject({ replayed: 0 })
    const requestId = await requestOf(client, String(agents[0]?.id))
    const one = await replay({ status: 'delivered', webhookId: id, requestId })
    expect(one).toEqual({ replayed: 1, more: false, last: expect.stringMatching(/^delivery_/) })
    await until('it has come once more', () => receiver.at(path).length === 4)
    await allDelivered(client, id, 3)
    // Only those after the last processed one count.
    const ids = (await deliveriesOf(client, id)).map(delivery => delivery.id).sort()
    const rest = await replay({ status: 'delivered', after: String(ids[0]) })
    expect(rest).toEqual({ replayed: 2, more: false, last: ids[2] })
    await until('they have come once more', () => receiver.at(path).length === 6)
  })

  test('takes what has failed where no status is named, and not what waits', async () => {
    let isWell = false
    const { client, id } = await subscribed(
      response => void response.writeHead(isWell ? 200 : 500).end(),
      'free',
    )
    await anAgent(client)
    await until('it has failed', async () => (await deliveriesOf(client, id))[0]?.status === 'failed')
    isWell = true
    expect(await bodyOf(client.webhooks.replayDeliveries({ body: {} }))).toMatchObject({ replayed: 1 })
    await allDelivered(client, id, 1)
    await service.sql(
      `update deliveries set status = 'pending', due_at = now() + interval '1 hour' where webhook_id = $1`,
      [id],
    )
    for (const status of ['delivered', 'failed'] as const)
      expect(await bodyOf(client.webhooks.replayDeliveries({ body: { status } }))).toMatchObject({
        replayed: 0,
      })
  })

  let made = 0

  async function endedDeliveries(status: 'delivered' | 'dead', count: number) {
    const { client, ownerId, id } = await subscribed(respondWith(200))
    await bodyOf(client.webhooks.update({ params: { id }, body: { status: 'disabled' } }))
    await service.sql(
      `insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
         claims, tries, attempts)
       select 'delivery_' || lpad(n::text, 26, '0'), $1, 'test', now(), now(), $2, 'event_' || lpad(n::text, 26, '0'),
         'agent.created', $3, null, 1, 0, '[]' from generate_series($4::int + 1, $4::int + $5::int) n`,
      [ownerId, id, status, made, count],
    )
    made += count
    return { client, id }
  }

  test.each(['dead letters', 'a filter'])('of %s finds all that a concurrent one leaves', async by => {
    const { client, id } = await endedDeliveries('dead', 1_500)
    const others = 'select id from deliveries where webhook_id = $1 order by id limit 1000'
    const answer = await withConnection(service.databaseUrl, async holder => {
      await holder.query('begin')
      await holder.query(
        `update deliveries set status = 'pending', due_at = now() + interval '1 day' where id in (${others})`,
        [id],
      )
      const replaying =
        by === 'a filter'
          ? client.webhooks.replayDeliveries({ body: { status: 'dead' } })
          : client.webhooks.replayDeadLetters({ body: {} })
      await until('the replay waits', async () => {
        const waiting = await service.sql(
          `select from pg_locks where not granted and locktype = 'transactionid'`,
        )
        return waiting.length > 0
      })
      await holder.query('commit')
      return bodyOf<object>(replaying)
    })
    expect(answer).toMatchObject({ replayed: 500, more: false })
  })

  test('takes a thousand at a time, and goes on behind the last one', async () => {
    const { client } = await endedDeliveries('delivered', 1_500)
    const replay = (after?: string) =>
      bodyOf(client.webhooks.replayDeliveries({ body: { status: 'delivered', ...(after ? { after } : {}) } }))
    const first = await replay()
    expect(first).toMatchObject({ replayed: 1_000, more: true, last: expect.stringMatching(/^delivery_0/) })
    expect(await replay(String(first.last))).toMatchObject({ replayed: 500, more: false })
  })

  test('refuses a subscription or an event that is not there or is another owner’s', async () => {
    const { client } = await service.owner()
    const { client: stranger } = await service.owner()
    const { id } = await aWebhook(stranger)
    const { data } = await bodyOf(stranger.events.list())
    const answers = [
      await client.webhooks.replayDeliveries({ body: { webhookId: id } }),
      await client.webhooks.replayDeliveries({ body: { eventId: String(data[0]?.id) } }),
    ]
    expect(answers.map(({ status, code }) => [status, code])).toEqual([
      [404, 'webhook_not_found'],
      [404, 'event_not_found'],
    ])
  })
})
