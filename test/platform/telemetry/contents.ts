import { expect, test } from '@jest/globals'
import { demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, pay } from '../../support/commerce/payers.ts'
import { aSepaTransfer, aWebhook } from '../../support/factories.ts'
import { aTrace, collector, receiver, service, untilTraced } from './service.ts'

const merchant = await startMerchant()

/** All that a span may say. A new name needs a reason why it is no secret and nothing personal. */
const ALLOWED = [
  'http.request.method',
  'http.route',
  'http.response.status_code',
  'error.type',
  'agentpay.operation',
  'agentpay.batch_size',
  'agentpay.event',
  'agentpay.event_id',
  'agentpay.webhook_id',
  'temporal.workflow_id',
  'temporal.activity',
  'temporal.attempt',
]

test('spans say nothing that a client, a merchant or a person has written', async () => {
  const payer = await aPayer(service)
  const { owner, client } = payer
  await aWebhook(client, { url: `${receiver.url}/hook-with-a-token`, events: ['*'] })
  const url = merchant.sells('/path-of-the-merchant', demand(), sell({ words: 'body-of-the-merchant' }))
  const { traceId, traceparent } = aTrace()
  const headers = {
    traceparent,
    tracestate: 'vendor=words-of-the-client',
    baggage: 'who=words-of-the-client',
    'x-request-id': 'person@example.com',
    'user-agent': 'agent-of-the-client',
    'idempotency-key': 'key-of-the-client',
  }
  await pay(payer, `${url}?query-of-the-client=1`, {}, { headers })
  await aSepaTransfer(client, { name: 'Bäckerei Müller' })
  await client.agents.get({ params: { id: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz' }, headers })
  const spans = await untilTraced(traceId, 'POST /v1/mpp/pay', 'webhook intent.completed', 'GET /agents/{id}')
  const names = new Set(collector.spans().flatMap(({ attributes }) => Object.keys(attributes)))
  expect([...names].filter(name => !ALLOWED.includes(name))).toEqual([])
  expect(spans.find(({ name }) => name === 'GET /agents/{id}')).toMatchObject({
    failed: false,
    attributes: { 'http.response.status_code': '404' },
  })
  const said = collector
    .spans()
    .map(({ text }) => text)
    .join('\n')
  const hidden = [
    ...[
      'of-the-client',
      'of-the-merchant',
      'hook-with-a-token',
      'person@',
      '@example.com',
      'Müller',
      'Bäckerei',
    ],
    ...['DE89', '127.0.0.1', 'sk_', 'at_', 'whsec_', 'Bookshop', 'caching', owner.key, owner.ownerId],
    service.dashboardSecret,
  ]
  expect(hidden.filter(words => said.includes(words))).toEqual([])
  const sent = [...merchant.visits('/path-of-the-merchant'), ...receiver.at('/hook-with-a-token')]
  expect(sent.map(({ headers: { tracestate, baggage } }) => [tracestate, baggage])).toEqual(
    sent.map(() => [undefined, undefined]),
  )
})
