import { describe, expect, test } from '@jest/globals'
import { demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, pay } from '../../support/commerce/payers.ts'
import { anAgent, aWebhook, bodyOf } from '../../support/factories.ts'
import { until } from '../../support/until.ts'
import { aTrace, collector, receiver, service, spansOf, untilTraced } from './service.ts'

const merchant = await startMerchant()

const storedOf = async (requestId: string | null) =>
  (await service.sql('select distinct traceparent from events where request_id = $1', [requestId])).map(
    ({ traceparent }) => traceparent,
  )

describe('a trace that its client does not record', () => {
  test('has no spans and stores nothing, also for the run that pays', async () => {
    const payer = await aPayer(service)
    const url = merchant.sells('/unrecorded', demand(), sell({ report: 42 }))
    const { traceId, sending } = aTrace('00')
    const { headers } = await pay(payer, url, {}, sending)
    const sent = merchant.visits('/unrecorded').map(visit => visit.headers.traceparent)
    expect(sent).toEqual([undefined, undefined])
    expect(await storedOf(headers.get('x-request-id'))).toEqual([null])
    const later = aTrace()
    await payer.client.agents.list(later.sending)
    await untilTraced(later.traceId, 'GET /agents')
    expect(spansOf(traceId)).toEqual([])
  })
})

describe('a traceparent that is not valid begins a new trace', () => {
  const { traceId, spanId } = aTrace()
  test.each([
    ['empty', ''],
    ['of another version', `ff-${traceId}-${spanId}-01`],
    ['without a trace', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['without a span', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['cut', `00-${traceId}-${spanId}`],
    ['with more members', `00-${traceId}-${spanId}-01-more`],
    ['in capitals', `00-${traceId.toUpperCase()}A-${spanId}-01`],
    ['of thousands of characters', `01-${traceId}-${spanId}-01-${'a'.repeat(8_000)}`],
    ['sent twice', `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
  ])('%s', async (_, traceparent) => {
    const { client } = await service.owner()
    const answer = await client.agents.create({ body: { name: 'Buyer' }, headers: { traceparent } })
    expect(answer.status).toBe(201)
    const [stored] = await storedOf(answer.headers.get('x-request-id'))
    expect(stored).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/)
    expect(stored).not.toContain(traceId)
  })

  test('and later versions are read as far as they are known', async () => {
    const { client } = await service.owner()
    const known = aTrace()
    const headers = { traceparent: `cc-${known.traceId}-${known.spanId}-01-what-the-future-brings` }
    await bodyOf(client.agents.create({ body: { name: 'Buyer' }, headers }))
    expect((await untilTraced(known.traceId, 'POST /agents'))[0]?.traceId).toBe(known.traceId)
  })
})

test('health and assets have no spans', async () => {
  const { sending, traceId } = aTrace()
  await service.http('GET', '/health', sending)
  await service.http('GET', '/llms.txt', sending)
  const later = aTrace()
  await service.http('GET', '/nowhere', later.sending)
  const [span] = await untilTraced(later.traceId, 'GET')
  expect(span).toMatchObject({ failed: false, attributes: { 'http.response.status_code': '404' } })
  expect(spansOf(traceId)).toEqual([])
})

test('a tool call belongs to the trace that its message names', async () => {
  const { key } = await service.owner()
  const { traceId, traceparent } = aTrace()
  const { status } = await service.http('POST', '/mcp', {
    token: key,
    headers: { accept: 'application/json, text/event-stream' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'list_intents', arguments: {}, _meta: { traceparent } },
    },
  })
  expect(status).toBe(200)
  const spans = await untilTraced(traceId, 'tools/call', 'intents.list')
  const [call] = spans.filter(({ name }) => name === 'tools/call')
  const [outer = ''] = call?.links ?? []
  await until('the request around it is collected', () =>
    collector.spans().some(span => `${span.traceId} ${span.spanId}` === outer),
  )
})

test('a webhook without a trace carries no traceparent', async () => {
  const { client } = await service.owner()
  await aWebhook(client, { url: `${receiver.url}/untraced`, events: ['agent.created'] })
  await bodyOf(client.agents.create({ body: { name: 'Buyer' }, ...aTrace('00').sending }))
  await until('it is delivered', () => receiver.at('/untraced').length > 0)
  expect(receiver.at('/untraced')[0]?.headers.traceparent).toBeUndefined()
  await anAgent(client)
})
