import { randomUUID } from 'node:crypto'
import { ExportResultCode, parseKeyPairsIntoRecord } from '@opentelemetry/core'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { clock } from '../../values/clock.ts'
import type { Metrics } from '../metrics.ts'
import type { Settings } from '../settings/settings.ts'
import { metricsProducer } from './metrics-producer.ts'
import { type Telemetry, tracingBy } from './tracer.ts'

interface ExportSettings extends Settings {
  readonly endpoint: string
  readonly version: string
}

type Lost = (signal: 'traces' | 'metrics', count: number, error?: unknown) => void

/** Beyond that many spans in memory, which are about two megabytes, new ones are dropped and counted. */
const MAX_QUEUE = 2_048
const BATCH = 512
const SEND_EVERY_MS = 1_000
const ANSWERED_WITHIN_MS = 10_000
/** The end of the process waits no longer for the collector. */
const LAST_MS = 2_000

const NAME = 'agent-payments'

/** Sends spans and metrics in the background. Nothing waits for the collector, and its failures only count. */
export function startExport(settings: ExportSettings, onFailure: (error: unknown) => void): Telemetry {
  const headers = parseKeyPairsIntoRecord(settings.otelExporterOtlpHeaders)
  const target = (path: string) => ({
    url: `${settings.endpoint}/v1/${path}`,
    headers,
    timeoutMillis: ANSWERED_WITHIN_MS,
  })
  const resource = resourceOf(settings)
  const { lose, countBy } = losses(onFailure)
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(settings),
    spanProcessors: [boundedProcessor(new OTLPTraceExporter(target('traces')), lose)],
  })
  const stops = [() => provider.shutdown()]
  return {
    tracing: tracingBy(provider.getTracer(NAME, settings.version)),
    exportMetrics(metrics) {
      countBy(metrics.lost)
      if (settings.otelMetricsExporter === 'none') return
      const exporter = new OTLPMetricExporter(target('metrics'))
      stops.push(sendMetrics(metrics, { exporter, resource, lose, settings }))
    },
    stop: () =>
      Promise.race([
        Promise.allSettled(stops.map(stop => stop())).then(() => undefined),
        new Promise<void>(resolve => setTimeout(resolve, LAST_MS).unref()),
      ]),
  }
}

const resourceOf = ({ otelServiceName, otelResourceAttributes, version }: ExportSettings): Resource =>
  resourceFromAttributes({
    ...parseKeyPairsIntoRecord(otelResourceAttributes),
    'service.name': otelServiceName,
    'service.version': version,
    'service.instance.id': randomUUID(),
  })

function samplerOf({ otelTracesSampler: name, otelTracesSamplerArg: share }: Settings): Sampler {
  const ofName = name.replace('parentbased_', '')
  const own =
    ofName === 'always_on'
      ? new AlwaysOnSampler()
      : ofName === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(share)
  return name === ofName ? own : new ParentBasedSampler({ root: own })
}

const WARN_EVERY_MS = 60_000

/** Counts what is lost; a collector that is down for long is one line of the log a minute. */
function losses(onFailure: (error: unknown) => void) {
  let count: Metrics['lost'] = () => undefined
  let warnedAt = Number.NEGATIVE_INFINITY
  const lose: Lost = (signal, number, error) => {
    count(signal, number)
    if (clock.ticks() - warnedAt < WARN_EVERY_MS) return
    warnedAt = clock.ticks()
    onFailure(error ?? new Error('the collector is slower than the spans'))
  }
  return {
    lose,
    countBy(lost: Metrics['lost']) {
      count = lost
    },
  }
}

/** OpenTelemetry's own queue drops silently, so what is on its way is counted before it. */
function boundedProcessor(exporter: SpanExporter, lose: Lost): SpanProcessor {
  let queued = 0
  const counting: SpanExporter = {
    export(spans, done) {
      exporter.export(spans, result => {
        queued -= spans.length
        if (result.code !== ExportResultCode.SUCCESS) lose('traces', spans.length, result.error)
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
  const inner = new BatchSpanProcessor({
    exporter: counting,
    maxQueueSize: MAX_QUEUE,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: SEND_EVERY_MS,
  })
  return {
    onStart: (...started) => inner.onStart(...started),
    onEnd(span: ReadableSpan) {
      if (queued >= MAX_QUEUE) return lose('traces', 1)
      queued++
      inner.onEnd(span)
    },
    forceFlush: () => inner.forceFlush(),
    shutdown: () => inner.shutdown(),
  }
}

interface MetricsTarget {
  readonly exporter: OTLPMetricExporter
  readonly resource: Resource
  readonly lose: Lost
  readonly settings: ExportSettings
}

function sendMetrics(
  metrics: Pick<Metrics, 'read'>,
  { exporter, resource, lose, settings }: MetricsTarget,
): () => Promise<void> {
  const send = exporter.export.bind(exporter)
  exporter.export = (read, done) =>
    send(read, result => {
      if (result.code !== ExportResultCode.SUCCESS) lose('metrics', 1, result.error)
      done(result)
    })
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: settings.otelMetricExportInterval,
    exportTimeoutMillis: Math.min(ANSWERED_WITHIN_MS, settings.otelMetricExportInterval),
    metricProducers: [metricsProducer(metrics, resource, NAME)],
  })
  const provider = new MeterProvider({ resource, readers: [reader] })
  return () => provider.shutdown()
}
