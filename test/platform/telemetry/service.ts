import { randomBytes } from 'node:crypto'
import { startReceiver } from '../../support/delivery/receiver.ts'
import { startTestService } from '../../support/harness.ts'
import { type CollectedSpan, pathsOf, startCollector } from '../../support/telemetry/collector.ts'
import { until } from '../../support/until.ts'

export const collector = await startCollector()
export const receiver = await startReceiver()

export const COLLECTOR_KEY = 'a secret of the collector'

export const service = await startTestService({
  temporal: true,
  deliverers: 1,
  env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${encodeURIComponent(COLLECTOR_KEY)}`,
    OTEL_SERVICE_NAME: 'payments-under-test',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
    OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
    WEBHOOK_RETRY_SECONDS: '1',
  },
})

/** A new trace of a client. */
export function aTrace(flags = '01') {
  const traceId = randomBytes(16).toString('hex')
  const spanId = randomBytes(8).toString('hex')
  const traceparent = `00-${traceId}-${spanId}-${flags}`
  return { traceId, spanId, traceparent, sending: { headers: { traceparent } } }
}

export const spansOf = (traceId: string): readonly CollectedSpan[] =>
  collector.spans().filter(span => span.traceId === traceId)

/** Waits until the trace has a span of each name, and returns all. */
export async function untilTraced(traceId: string, ...names: readonly string[]) {
  const missing = () => names.filter(name => !spansOf(traceId).some(span => span.name === name))
  await until(`the trace has ${names.join(', ')}`, () => missing().length === 0).catch((error: Error) => {
    throw new Error(`${error.message}. There is\n${pathsOf(spansOf(traceId)).join('\n')}`)
  })
  return spansOf(traceId)
}

export const spanNamed = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const span = spans.find(one => one.name === name)
  if (!span) throw new Error(`there is no span ${name}`)
  return span
}
