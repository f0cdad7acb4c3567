import type { OutboundAnswer, OutboundHttp, OutboundRequest } from '../ports/outbound.ts'
import type { Span, Tracing } from '../ports/tracing.ts'

/** Sends each request in a span, with its `traceparent`: receivers and merchants may follow the trace. */
export function withTracedRequests(outbound: OutboundHttp, tracing: Tracing | null): OutboundHttp {
  if (!tracing) return outbound
  const { judge, isAllowed, send } = outbound
  return {
    judge,
    isAllowed,
    send(request) {
      const { method } = request
      const start = { name: method, kind: 'client', attributes: { 'http.request.method': method } } as const
      return tracing.span(start, async span => {
        const answer = await send(withHeaders(request, span))
        describe(answer, span)
        return answer
      })
    },
  }
}

function withHeaders(request: OutboundRequest, { headers: added }: Span): OutboundRequest {
  const { headers, retryHeaders } = request
  return {
    ...request,
    headers: { ...headers, ...added },
    ...(retryHeaders && { retryHeaders: () => ({ ...retryHeaders(), ...added }) }),
  }
}

function describe(answer: OutboundAnswer, { set, fail }: Span): void {
  if (answer.kind === 'answered') {
    const { status } = answer
    set({ 'http.response.status_code': status })
    if (status >= 400) fail(String(status))
  } else fail(answer.kind === 'failed' && answer.timedOut ? 'timeout' : answer.kind)
}
