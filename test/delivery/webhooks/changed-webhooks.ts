import { describe, expect, test } from '@jest/globals'
import { verifyWebhook } from '../../../src/derive/client.ts'
import { times } from '../../support/at-once.ts'
import { deliveriesOf, untilDelivery } from '../../support/delivery/deliveries.ts'
import { respondWith, startReceiver } from '../../support/delivery/receiver.ts'
import { anAgent, anAgentUnder, aWebhook, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const receiver = await startReceiver()
const service = await startTestService({ deliverers: 1, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })

/** The number of concurrent requests to a receiver without a history. */
const AT_ONCE = 4
const CLAIMED = 5

let paths = 0

/** A subscription whose receiver delays the first requests, while other claimed deliveries wait. */
async function webhookWithClaims() {
  const { client } = await service.owner()
  const [path, newPath] = [`/${++paths}`, `/${++paths}`]
  const openAnswers: (() => void)[] = []
  receiver.treat(path, response => {
    if (openAnswers.length < AT_ONCE) openAnswers.push(() => response.writeHead(204).end())
    else response.writeHead(204).end()
  })
  const webhook = await aWebhook(client, { url: receiver.url + path, events: ['agent.created'] })
  await times(AT_ONCE + CLAIMED, () => anAgent(client))
  await until('the first are on their way', () => openAnswers.length === AT_ONCE)
  await until('the rest is taken', async () => {
    const deliveries = await deliveriesOf(client, webhook.id)
    return deliveries.filter(({ status }) => status === 'delivering').length === AT_ONCE + CLAIMED
  })
  const release = () => openAnswers.forEach(answer => void answer())
  /** Waits until the deliveries after the first ones were released or claimed again. */
  const untilReleased = (condition: 'leased_until is null' | 'claims = 2') =>
    until(`they are let go: ${condition}`, async () => {
      const text = `select 1 from deliveries where webhook_id = $1 and status = 'pending' and ${condition}`
      return (await service.sql(text, [webhook.id])).length === CLAIMED
    })
  return { client, params: { id: webhook.id }, path, newPath, release, untilReleased }
}

describe('a delivery that is claimed but not yet sent', () => {
  test('is not sent once its subscription is deleted', async () => {
    const { client, params, path, release, untilReleased } = await webhookWithClaims()
    await bodyOf(client.webhooks.delete({ params }))
    await untilReleased('leased_until is null')
    release()
    await until('the others are marked', async () => {
      const pending = await service.sql(
        `select 1 from deliveries where webhook_id = $1 and status = 'pending'`,
        [params.id],
      )
      return pending.length === CLAIMED
    })
    expect(receiver.at(path)).toHaveLength(AT_ONCE)
    const { data } = await bodyOf(client.webhooks.allDeliveries({ query: { status: 'pending' } }))
    expect(data.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual(Array(CLAIMED).fill(null))
    const [waiting] = data
    const replayed = await client.webhooks.replay({ params: { id: String(waiting?.id) } })
    expect([replayed.status, replayed.code]).toEqual([400, 'webhook_deleted'])
    await service.sql(`update deliveries set status = 'dead', due_at = null where id = $1`, [waiting?.id])
    expect(await bodyOf(client.webhooks.replayDeadLetters({ body: {} }))).toEqual({
      replayed: 0,
      more: false,
    })
  })

  test('is sent to the new address', async () => {
    const { client, params, path, newPath, release, untilReleased } = await webhookWithClaims()
    await bodyOf(client.webhooks.update({ params, body: { url: receiver.url + newPath } }))
    await untilReleased('claims = 2')
    release()
    await until('the rest arrives', () => receiver.at(newPath).length === CLAIMED)
    expect(receiver.at(path)).toHaveLength(AT_ONCE)
  })

  test('is signed with the new secret, too', async () => {
    const { client, params, path, release, untilReleased } = await webhookWithClaims()
    const { secret } = await bodyOf(client.webhooks.rotateSecret({ params }))
    await untilReleased('claims = 2')
    release()
    await until('the rest arrives', () => receiver.at(path).length === AT_ONCE + CLAIMED)
    const verified = receiver
      .at(path)
      .slice(AT_ONCE)
      .map(({ headers, body }) => verifyWebhook(headers, body, String(secret)).event)
    expect(verified).toHaveLength(CLAIMED)
  })
})

test('a 410 from the old address does not disable the new address', async () => {
  const { client } = await service.owner()
  const [old, path] = [`/${++paths}`, `/${++paths}`]
  const openAnswers: (() => void)[] = []
  receiver.treat(old, response => void openAnswers.push(() => response.writeHead(410).end()))
  const { id } = await aWebhook(client, { url: receiver.url + old, events: ['agent.created'] })
  await anAgent(client)
  await until('it is on its way', () => openAnswers.length === 1)
  await bodyOf(client.webhooks.update({ params: { id }, body: { url: receiver.url + path } }))
  openAnswers[0]?.()
  await untilDelivery(client, id, delivery => delivery.attempts[0]?.status === 410)
  await anAgent(client)
  await until('the new one hears of what comes', () => receiver.at(path).length > 0)
  expect((await bodyOf(client.webhooks.get({ params: { id } }))).status).toBe('active')
})

test('subscriptions created concurrently stay within the limit of the plan', async () => {
  const { client, ownerId } = await service.owner()
  await service.sql(
    `insert into webhooks (id, owner_id, mode, created_at, updated_at, url, events, status, secret, hint, failures)
     select 'webhook_' || n, $1, 'test', now(), now(), 'https://example.com/', '{x}', 'active', 's', 'h', 0
     from generate_series(1, 97) n`,
    [ownerId],
  )
  const body = { url: 'https://example.com/hooks', events: ['agent.frozen'] }
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.webhooks.create({ body })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 400, 400, 400, 400, 400])
})

test('an event caused by the test clock carries the id of the request that created its record', async () => {
  const { client } = await service.owner()
  const path = `/${++paths}`
  receiver.treat(path, respondWith(204))
  await aWebhook(client, { url: receiver.url + path, events: ['intent.expired'] })
  const agent = await anAgentUnder(client, {})
  const intent = await client.intents.create({
    body: { agentId: agent.id, amountEuros: 5, merchant: 'M', purpose: 'P', expiresInMinutes: 60 },
  })
  expect(intent.body.status).toBe('created')
  await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
  await until('it is told', () => receiver.at(path).length === 1)
  expect(receiver.at(path)[0]?.headers['x-request-id']).toBe(intent.headers.get('x-request-id'))
})
