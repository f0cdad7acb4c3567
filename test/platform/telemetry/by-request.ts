import { expect, test } from '@jest/globals'
import { demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, pay } from '../../support/commerce/payers.ts'
import { startTestService } from '../../support/harness.ts'
import { pathsOf } from '../../support/telemetry/collector.ts'
import { aTrace, collector, untilTraced } from './service.ts'

const merchant = await startMerchant()
const service = await startTestService({
  env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
    MPP_WORKFLOWS: 'request',
  },
})

test('the steps of a payment without a run belong to the trace of its request', async () => {
  const payer = await aPayer(service)
  const { traceId, sending } = aTrace()
  const url = merchant.sells('/by-request', demand(), sell({ report: 42 }))
  const { status, headers } = await pay(payer, url, {}, sending)
  expect(status).toBe(200)
  const paths = pathsOf(await untilTraced(traceId, 'POST /v1/mpp/pay', 'mpp.order', 'mpp.send'))
  for (const step of ['mpp.order', 'mpp.send'])
    expect(paths).toContainEqual(expect.stringMatching(new RegExp(`^POST /v1/mpp/pay > .*${step}$`)))
  const stored = await service.sql<{ traceparent: string | null }>(
    'select distinct traceparent from events where request_id = $1',
    [headers.get('x-request-id')],
  )
  expect(stored.length).toBeGreaterThan(0)
  for (const { traceparent } of stored) expect(traceparent).toContain(traceId)
})
