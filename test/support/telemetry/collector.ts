import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll } from '@jest/globals'
import protobuf from 'protobufjs'

const { root } = protobuf.parse(readFileSync(fileURLToPath(new URL('otlp.proto', import.meta.url)), 'utf8'))

interface KeyValue {
  readonly key: string
  readonly value?: Readonly<Record<string, unknown>>
}

interface Point {
  readonly asDouble?: number
  readonly asInt?: string
  readonly count?: string
  readonly sum?: number
  readonly bucketCounts?: readonly string[]
  readonly explicitBounds?: readonly number[]
  readonly attributes?: readonly KeyValue[]
}

interface WireSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes?: readonly KeyValue[]
  readonly events?: readonly object[]
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status?: { readonly code?: number; readonly message?: string }
}

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly name: string
  readonly kind: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly links: readonly string[]
  readonly failed: boolean
  readonly service: Readonly<Record<string, unknown>>
  /** Everything of it, to search for what must not be there. */
  readonly text: string
}

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']

const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex')

const attributesOf = (list: readonly KeyValue[] = []): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value = {} }) => [key, Object.values(value)[0]]))

const decode = (type: string, bytes: Uint8Array) =>
  root.lookupType(type).toObject(root.lookupType(type).decode(bytes), { bytes: String, longs: String })

interface CollectedMetric {
  readonly name: string
  readonly kind: 'gauge' | 'sum' | 'histogram'
  readonly points: readonly (Omit<Point, 'attributes'> & {
    readonly attributes: Readonly<Record<string, unknown>>
  })[]
}

interface Collector {
  readonly url: string
  readonly requests: readonly IncomingMessage['headers'][]
  spans(): readonly CollectedSpan[]
  metrics(): readonly CollectedMetric[]
  /** From now on answers with this status. */
  answer(status: number): void
}

/** A receiver of OTLP by HTTP and protobuf, with a schema of its own. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = []
  let metrics: readonly CollectedMetric[] = []
  const requests: IncomingMessage['headers'][] = []
  let status = 200
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    requests.push(request.headers)
    if (status === 200 && request.url === '/v1/traces') spans.push(...spansIn(body))
    if (status === 200 && request.url === '/v1/metrics') metrics = metricsIn(body)
    response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans: () => spans,
    metrics: () => metrics,
    answer(next) {
      status = next
    },
  }
}

function spansIn(body: Uint8Array): CollectedSpan[] {
  const { resourceSpans = [] } = decode('TraceRequest', body) as {
    resourceSpans?: { resource?: { attributes?: KeyValue[] }; scopeSpans?: { spans?: WireSpan[] }[] }[]
  }
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) =>
    scopeSpans.flatMap(({ spans = [] }) =>
      spans.map(span => shown(span, attributesOf(resource?.attributes))),
    ),
  )
}

const shown = (span: WireSpan, service: Record<string, unknown>): CollectedSpan => ({
  traceId: hex(span.traceId),
  spanId: hex(span.spanId),
  parentSpanId: span.parentSpanId ? hex(span.parentSpanId) : null,
  name: span.name,
  kind: KINDS[span.kind] ?? '',
  attributes: attributesOf(span.attributes),
  links: (span.links ?? []).map(({ traceId, spanId }) => `${hex(traceId)} ${hex(spanId)}`),
  failed: span.status?.code === 2,
  service,
  text: JSON.stringify([span, service]),
})

function metricsIn(body: Uint8Array): CollectedMetric[] {
  const { resourceMetrics = [] } = decode('MetricsRequest', body) as {
    resourceMetrics?: { scopeMetrics?: { metrics?: Record<string, { dataPoints?: Point[] }>[] }[] }[]
  }
  const all = resourceMetrics.flatMap(({ scopeMetrics = [] }) =>
    scopeMetrics.flatMap(({ metrics = [] }) => metrics),
  )
  return all.map(metric => {
    const kind = (['gauge', 'sum', 'histogram'] as const).find(one => one in metric) ?? 'gauge'
    const points = metric[kind]?.dataPoints ?? []
    return {
      name: String(metric.name),
      kind,
      points: points.map(({ attributes, ...point }) => ({ ...point, attributes: attributesOf(attributes) })),
    }
  })
}

/** Each span of a trace by the names from its root, without repetitions: `POST /intents > intents.create`. */
export function pathsOf(spans: readonly CollectedSpan[]): string[] {
  const byId = new Map(spans.map(span => [span.spanId, span]))
  const pathOf = ({ name, parentSpanId }: CollectedSpan): string => {
    const parent = parentSpanId === null ? undefined : byId.get(parentSpanId)
    return parent ? `${pathOf(parent)} > ${name}` : name
  }
  return [...new Set(spans.map(pathOf))].sort()
}
