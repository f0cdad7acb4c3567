import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { demand, sell, startMerchant } from '../support/commerce/merchant.ts'
import { aPayer, pay } from '../support/commerce/payers.ts'
import { startReceiver } from '../support/delivery/receiver.ts'
import { aWebhook } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { runPeer } from '../support/processes/peer.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentpay-collector-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const freePort = (): Promise<number> =>
  new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

/** The Collector of OpenTelemetry. It prints what it has received. */
async function startCollector() {
  const program = join(folder, 'otel-collector')
  await runPeer('go', ['build', '-C', 'test/peers/otel-collector', '-o', program, '.'], '')
  const port = await freePort()
  const pipeline = { receivers: ['otlp'], exporters: ['debug'] }
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { debug: { verbosity: 'detailed' } },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: { traces: pipeline, metrics: pipeline },
    },
  }
  const child = spawn(program, [`--config=yaml:${JSON.stringify(config)}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  afterAll(() => void child.kill())
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', piece => (output += String(piece)))
  await until('the collector is ready', () => output.includes('Everything is ready'))
  return { url: `http://127.0.0.1:${port}`, output: () => output }
}

const collector = await startCollector()
const receiver = await startReceiver()
const merchant = await startMerchant()
const service = await startTestService({
  temporal: true,
  deliverers: 1,
  env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
    OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
  },
})

const SPAN = /Trace ID +: (\w*)\s+Parent ID +: (\w*)\s+ID +: (\w*)\s+Name +: (.*)/g

interface Span {
  readonly parent: string
  readonly id: string
  readonly name: string
}

const spansOf = (traceId: string): Span[] =>
  [...collector.output().matchAll(SPAN)].flatMap(([, trace, parent = '', id = '', name = '']) =>
    trace === traceId ? [{ parent, id, name }] : [],
  )

test('the Collector of OpenTelemetry finds the whole trace of a paid intent, and the metrics', async () => {
  const payer = await aPayer(service)
  await aWebhook(payer.client, { url: receiver.url, events: ['intent.completed'] })
  const url = merchant.sells('/report', demand(), sell({ report: 42 }))
  const [traceId, parent] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  const headers = { traceparent: `00-${traceId}-${parent}-01` }
  expect(await pay(payer, url, {}, { headers })).toMatchObject({ status: 200 })
  const wanted = [
    'POST /v1/mpp/pay',
    'mpp.pay',
    'transaction',
    'external call',
    'GET',
    'run mpp',
    'activity readMachinePayment',
    'webhook intent.completed',
    'POST',
  ]
  const names = () => spansOf(traceId).map(({ name }) => name)
  await until(`the trace has ${wanted}`, () => wanted.every(name => names().includes(name)))
  const spans = spansOf(traceId)
  const ids = new Set(spans.map(({ id }) => id))
  expect(spans.filter(span => !ids.has(span.parent)).map(span => [span.name, span.parent])).toEqual([
    ['POST /v1/mpp/pay', parent],
  ])
  for (const name of ['http_request_seconds', 'outbox_oldest_seconds', 'process_cpu_seconds_total'])
    await until(`the collector has ${name}`, () => collector.output().includes(`-> Name: ${name}\n`))
})
