import { describe, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook } from '../../src/derive/client.ts'
import { runCommand } from '../support/command.ts'
import { respondWith, startReceiver } from '../support/delivery/receiver.ts'
import { anAgent, aWebhook, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { until } from '../support/until.ts'
import { following } from './following.ts'

const service = await startTestService({ deliverers: 1, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const receiver = await startReceiver()

let paths = 0

/** A receiver at its own path, to which the command delivers. */
async function listening(argv: readonly string[] = [], more: Readonly<Record<string, string>> = {}) {
  const { client, key } = await service.owner()
  const path = `/listen/${++paths}`
  const ran = following(['webhooks', 'listen', '--forward', receiver.url + path, ...argv], {
    env: { AGENTPAY_URL: service.url, AGENTPAY_KEY: key, ...more },
  })
  await until('the command follows', () => ran.err().includes('Following events from now on.'))
  const secret = /for your receiver: (whsec_\S+)/.exec(ran.err())?.[1] ?? ''
  return Object.assign(ran, { client, path, secret })
}

describe('agentpay webhooks listen', () => {
  test('delivers what a subscription gets, in the same form, so that the client verifies it', async () => {
    const { client, path, secret, lines, end } = await listening(['--events', 'agent.created,agent.frozen'])
    const subscribed = '/subscribed'
    await aWebhook(client, { url: receiver.url + subscribed, events: ['agent.frozen'] })
    const { id } = await anAgent(client)
    await client.agents.freeze({ params: { id } })
    await until('both have come', () => lines().length >= 2 && receiver.at(subscribed).length > 0)
    const [created, frozen] = receiver.at(path)
    const [real] = receiver.at(subscribed)
    expect([created?.event, frozen?.event, receiver.at(path).length]).toEqual([
      'agent.created',
      'agent.frozen',
      2,
    ])
    const message = verifyWebhook(frozen?.headers ?? {}, frozen?.body ?? '', secret)
    expect(message).toMatchObject({ event: 'agent.frozen', data: { agentId: id } })
    expect(() => verifyWebhook(frozen?.headers ?? {}, frozen?.body ?? '', `${secret}x`)).toThrow('signature')
    const { event } = message
    expect(new Webhook(secret).verify(frozen?.body ?? '', frozen?.headers ?? {})).toMatchObject({ event })
    expect(JSON.parse(frozen?.body ?? '')).toEqual(JSON.parse(real?.body ?? ''))
    expect(Object.keys(JSON.parse(frozen?.body ?? ''))).toEqual(['event', 'createdAt', 'data'])
    for (const name of ['x-service-event-id', 'x-request-id', 'content-type', 'user-agent'])
      expect([name, frozen?.headers[name]]).toEqual([name, real?.headers[name]])
    const form = /^delivery_[0-9a-z]{26}-\d+\.\d+$/
    expect([frozen?.deliveryId, real?.deliveryId]).toEqual([
      expect.stringMatching(form),
      expect.stringMatching(form),
    ])
    expect(JSON.parse(lines()[1] ?? '')).toMatchObject({
      eventId: message.eventId,
      event: 'agent.frozen',
      status: 204,
      latencyMs: expect.any(Number),
      error: null,
    })
    expect((await end()).code).toBe(0)
  })

  test('begins behind an event that is named, and ends after so many', async () => {
    const { client, key } = await service.owner()
    const first = await anAgent(client)
    const { data } = await bodyOf(client.events.list({ query: { event: 'agent.created' } }))
    const [second, third] = [await anAgent(client), await anAgent(client)]
    const path = `/listen/${++paths}`
    const words = ['--events', 'agent.created', '--after', String(data[0]?.id), '--count', '2']
    const ran = await runCommand(['webhooks', 'listen', '--forward', receiver.url + path, ...words], {
      env: { AGENTPAY_URL: service.url, AGENTPAY_KEY: key },
    })
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining(`Following events after ${data[0]?.id}`)])
    const agents = receiver.at(path).map(({ body }) => JSON.parse(body).data.agentId)
    expect(agents).toEqual([second.id, third.id])
    expect(agents).not.toContain(first.id)
  })

  test('signs with the secret of the environment, and does not show that', async () => {
    const secret = 'whsec_of_the_environment'
    const { client, path, err, out, end } = await listening([], { AGENTPAY_WEBHOOK_SECRET: secret })
    await anAgent(client)
    await until('it has come', () => receiver.at(path).length > 0)
    const [got] = receiver.at(path)
    expect(verifyWebhook(got?.headers ?? {}, got?.body ?? '', secret).event).toBe(got?.event)
    await end()
    expect(out() + err()).not.toContain(secret)
  })

  test('sends what fails again, under another id of the same delivery, and shows the answers', async () => {
    const { client, path, secret, lines, end } = await listening(['--events', 'agent.created'])
    receiver.treat(path, (response, n, got) =>
      respondWith(n < 2 ? 500 : 204, n < 2 ? 'out of order\u001b[2J' : '')(response, n, got),
    )
    await anAgent(client)
    await until('it is taken', () => lines().length >= 3)
    const ids = receiver.at(path).map(({ deliveryId }) => deliveryId)
    expect([new Set(ids).size, new Set(ids.map(id => id.replace(/-.*/, ''))).size]).toEqual([3, 1])
    for (const { headers, body } of receiver.at(path)) verifyWebhook(headers, body, secret)
    expect(lines().map(line => JSON.parse(line))).toMatchObject([
      { status: 500, responseStart: 'out of order\u001b[2J' },
      { status: 500 },
      { status: 204 },
    ])
    await end()
  })

  test('drops an event after three attempts, or at once after a 410, and continues with the next event', async () => {
    const { client, path, lines, end } = await listening(['--events', 'agent.created'])
    receiver.treat(path, (response, n, got) => respondWith([500, 302, 500, 410][n] ?? 204)(response, n, got))
    for (let n = 0; n < 3; n++) await bodyOf(client.agents.create({ body: { name: `Agent ${n}` } }))
    await until('all are through', () => lines().length >= 5)
    expect(lines().map(line => JSON.parse(line).status)).toEqual([500, 302, 500, 410, 204])
    await end()
  })

  test('forwards only to this machine unless --allow-remote is set', async () => {
    const { key } = await service.owner()
    const env = { AGENTPAY_URL: service.url, AGENTPAY_KEY: key }
    const refusal = async (...forward: string[]) => {
      const { code, err } = await runCommand(['webhooks', 'listen', ...forward], { env })
      return [code, err]
    }
    for (const url of ['http://192.168.1.4:3000', 'https://example.com', 'http://localhost.example.com'])
      expect(await refusal('--forward', url)).toEqual([2, expect.stringContaining('--allow-remote')])
    expect(await refusal()).toEqual([2, expect.stringContaining('--forward')])
    expect(await refusal('--forward', 'file:///etc/passwd')).toEqual([
      2,
      expect.stringContaining('--forward'),
    ])
  })
})
