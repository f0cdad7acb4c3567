import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Link,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import type { Span, SpanStart, Tracing } from '../../ports/tracing.ts'
import type { Metrics } from '../metrics.ts'

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const

/** Version 00 has 55 characters; later ones may append to it. */
const MAX_LENGTH = 255

const NO_SPAN: Span = { set: () => undefined, fail: () => undefined, traceparent: undefined, headers: {} }

type SpanContext = ReturnType<OtelSpan['spanContext']>

const contextOf = (traceparent: string | undefined): SpanContext | null =>
  traceparent !== undefined && traceparent.length <= MAX_LENGTH ? parseTraceParent(traceparent) : null

const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`

const isSampled = ({ traceFlags }: SpanContext): boolean => (traceFlags & 1) === 1

interface TracingWithLog extends Tracing {
  /** The trace of the work that writes a line of the log. */
  logFields(): { readonly traceId: string; readonly spanId: string } | Record<never, never>
}

export interface Telemetry {
  readonly tracing: TracingWithLog
  /** Sends the metrics, too, if the settings say so. */
  exportMetrics(metrics: Pick<Metrics, 'read' | 'lost'>): void
  stop(): Promise<void>
}

/** Keeps the span around in asynchronous context, of its own, so that services in one process do not mix. */
export function tracingBy(tracer: Tracer): TracingWithLog {
  const around = new AsyncLocalStorage<OtelSpan>()

  function open({ name, kind = 'internal', parent, cause, begins, links = [], attributes = {} }: SpanStart) {
    const outer = around.getStore()?.spanContext()
    const caused = contextOf(cause)
    const isNearer = caused !== null && caused.traceId !== outer?.traceId
    const above = contextOf(parent) ?? (isNearer ? caused : outer)
    if (!above && !begins) return undefined
    const linked = [...links.map(contextOf), ...(isNearer && outer ? [outer] : [])].filter(
      one => one !== null,
    )
    return tracer.startSpan(
      name,
      {
        kind: KINDS[kind],
        attributes: { ...attributes },
        links: linked.map((context): Link => ({ context })),
      },
      above ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT,
    )
  }

  async function within<T>(
    span: OtelSpan,
    { isFailure = isDefect }: SpanStart,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    try {
      return await around.run(span, () => work(shown(span)))
    } catch (error) {
      if (isFailure(error)) fail(span, kindOf(error))
      else span.setAttribute('error.type', kindOf(error))
      throw error
    } finally {
      span.end()
    }
  }

  const span: Tracing['span'] = (start, work) => {
    const opened = open(start)
    return opened ? within(opened, start, work) : work(NO_SPAN)
  }

  return {
    span,
    async shared(start, parents, work) {
      const [first, ...others] = parents
      if (first === undefined) return work()
      if (others.length === 0) return span({ ...start, parent: first }, work)
      const each = parents.flatMap(parent => open({ ...start, parent }) ?? [])
      const whole = { ...start, name: `${start.name} batch`, parent: first }
      const links = each.map(one => traceparentOf(one.spanContext()))
      try {
        return await span({ ...whole, links }, work)
      } catch (error) {
        if (isDefect(error)) for (const one of each) fail(one, kindOf(error))
        throw error
      } finally {
        for (const one of each) one.end()
      }
    },
    logFields() {
      const context = around.getStore()?.spanContext()
      return context ? { traceId: context.traceId, spanId: context.spanId } : {}
    },
  }
}

function shown(span: OtelSpan): Span {
  const context = span.spanContext()
  const traceparent = traceparentOf(context)
  return {
    set: attributes => void span.setAttributes({ ...attributes }),
    fail: type => fail(span, type),
    traceparent: isSampled(context) ? traceparent : undefined,
    headers: { traceparent },
  }
}

function fail(span: OtelSpan, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })
}

/** A refusal is an answer like any other. */
const isDefect = (error: unknown): boolean => !(Number((Object(error) as { status?: unknown }).status) < 500)

/** A message may quote what a client has sent: only the kind of an error is shown. */
function kindOf(error: unknown): string {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown }
  return String(typeof code === 'string' ? code : (name ?? 'Error'))
}
