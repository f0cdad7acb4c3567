import { describe, expect, test } from '@jest/globals'
import { verifyWebhook } from '../../../src/derive/client.ts'
import { deliveriesOf, delivery } from '../../support/delivery/deliveries.ts'
import { answering, startReceiver } from '../../support/delivery/receiver.ts'
import { anAgent, anAgentUnder, aWebhook, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { times } from '../../support/sample-service.ts'
import { until } from '../../support/until.ts'

const receiver = await startReceiver()
const service = await startTestService({ deliverers: 1, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })

/** The requests that are under way at once to a receiver without a history. */
const AT_ONCE = 4
const REST = 5

let paths = 0

/** A subscription whose receiver delays the first requests, while other deliveries are claimed and wait. */
async function crowded() {
  const { client } = await service.owner()
  const [path, elsewhere] = [`/${++paths}`, `/${++paths}`]
  const held: (() => void)[] = []
  receiver.treat(path, response => {
    if (held.length < AT_ONCE) held.push(() => response.writeHead(204).end())
    else response.writeHead(204).end()
  })
  const webhook = await aWebhook(client, { url: receiver.url + path, events: ['agent.created'] })
  await times(AT_ONCE + REST, () => anAgent(client))
  await until('the first are on their way', () => held.length === AT_ONCE)
  await until('the rest is taken', async () => {
    const shown = await deliveriesOf(client, webhook.id)
    return shown.filter(({ status }) => status === 'delivering').length === AT_ONCE + REST
  })
  const release = () => held.forEach(answer => void answer())
  /** Waits until the deliveries behind the first ones were given back or claimed again. */
  const letGo = (condition: 'leased_until is null' | 'claims = 2') =>
    until(`they are let go: ${condition}`, async () => {
      const text = `select 1 from deliveries where webhook_id = $1 and status = 'pending' and ${condition}`
      return (await service.sql(text, [webhook.id])).length === REST
    })
  return { client, params: { id: webhook.id }, path, elsewhere, release, letGo }
}

describe('a delivery that is claimed and not begun', () => {
  test('does not arrive any more once the subscription is deleted', async () => {
    const { client, params, path, release, letGo } = await crowded()
    await bodyOf(client.webhooks.delete({ params }))
    await letGo('leased_until is null')
    release()
    await until('the others are marked', async () => {
      const left = await service.sql(
        `select 1 from deliveries where webhook_id = $1 and status = 'pending'`,
        [params.id],
      )
      return left.length === REST
    })
    expect(receiver.at(path)).toHaveLength(AT_ONCE)
    const { data } = await bodyOf(client.webhooks.allDeliveries({ query: { status: 'pending' } }))
    expect(data.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual(Array(REST).fill(null))
    const [waiting] = data
    const replayed = await client.webhooks.replay({ params: { id: String(waiting?.id) } })
    expect([replayed.status, replayed.code]).toEqual([400, 'webhook_deleted'])
    await service.sql(`update deliveries set status = 'dead', due_at = null where id = $1`, [waiting?.id])
    expect(await bodyOf(client.webhooks.replayDeadLetters({ body: {} }))).toEqual({ replayed: 0, more: false })
  })

  test('goes to the new address', async () => {
    const { client, params, path, elsewhere, release, letGo } = await crowded()
    await bodyOf(client.webhooks.update({ params, body: { url: receiver.url + elsewhere } }))
    await letGo('claims = 2')
    release()
    await until('the rest arrives', () => receiver.at(elsewhere).length === REST)
    expect(receiver.at(path)).toHaveLength(AT_ONCE)
  })

  test('is signed with the new secret too', async () => {
    const { client, params, path, release, letGo } = await crowded()
    const { secret } = await bodyOf(client.webhooks.rotateSecret({ params }))
    await letGo('claims = 2')
    release()
    await until('the rest arrives', () => receiver.at(path).length === AT_ONCE + REST)
    const verified = receiver
      .at(path)
      .slice(AT_ONCE)
      .map(({ headers, body }) => verifyWebhook(headers, body, String(secret)).event)
    expect(verified).toHaveLength(REST)
  })
})

test('a 410 of the old address does not give up the new one', async () => {
  const { client } = await service.owner()
  const [old, path] = [`/${++paths}`, `/${++paths}`]
  const held: (() => void)[] = []
  receiver.treat(old, response => void held.push(() => response.writeHead(410).end()))
  const { id } = await aWebhook(client, { url: receiver.url + old, events: ['agent.created'] })
  await anAgent(client)
  await until('it is on its way', () => held.length === 1)
  await bodyOf(client.webhooks.update({ params: { id }, body: { url: receiver.url + path } }))
  held[0]?.()
  await delivery(client, id, one => one.attempts[0]?.status === 410)
  await anAgent(client)
  await until('the new one hears of what comes', () => receiver.at(path).length > 0)
  expect((await bodyOf(client.webhooks.get({ params: { id } }))).status).toBe('active')
})

test('many subscriptions made at once stay within the limit of the plan', async () => {
  const { client, ownerId } = await service.owner()
  await service.sql(
    `insert into webhooks (id, owner_id, mode, created_at, updated_at, url, events, status, secret, hint, failures)
     select 'webhook_' || n, $1, 'test', now(), now(), 'https://example.com/', '{x}', 'active', 's', 'h', 0
     from generate_series(1, 97) n`,
    [ownerId],
  )
  const body = { url: 'https://example.com/hooks', events: ['agent.frozen'] }
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.webhooks.create({ body })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([
    ...[201, 201, 201],
    ...[400, 400, 400, 400, 400],
  ])
})

test('an event that the clock causes is sent under the id of the request that moved it', async () => {
  const { client } = await service.owner()
  const path = `/${++paths}`
  receiver.treat(path, answering(204))
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
