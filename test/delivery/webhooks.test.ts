import { describe, expect, test } from '@jest/globals'
import { verifyWebhook } from '../../src/derive/client.ts'
import { anAgent, aWebhook, made } from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { answering, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const receiver = await startReceiver()
const house = await startHouse({ deliverers: 1, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })

let paths = 0
const aPath = (): string => `/${++paths}`

describe('a delivery', () => {
  test('has the headers, the body and the signature of the contract', async () => {
    const { client } = await house.owner()
    const path = aPath()
    const { id, secret } = await aWebhook(client, { url: receiver.url + path, events: ['agent.created'] })
    const answer = await client.agents.create({ body: { name: 'Reader' } })
    await until('it arrives', () => receiver.at(path).length === 1)
    const [received] = receiver.at(path)
    const { headers = {}, body = '' } = received ?? {}
    const message = verifyWebhook(headers, body, String(secret))
    expect(message).toEqual({
      event: 'agent.created',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: expect.objectContaining({ agentId: answer.body.id }),
      deliveryId: headers['x-service-delivery-id'],
    })
    expect(Object.keys(JSON.parse(body))).toEqual(['event', 'createdAt', 'data'])
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-event': 'agent.created',
      'x-service-timestamp': expect.stringMatching(/^\d{10}$/),
      'x-request-id': answer.headers.get('x-request-id'),
    })
    const isDone = async () => (await made(client.webhooks.deliveries({ params: { id } }))).data[0]
    await until('it is noted', async () => (await isDone())?.status === 'delivered')
    expect(await isDone()).toMatchObject({ webhookId: id, event: 'agent.created', status: 'delivered' })
  })
})
