import type { Request, Response } from 'express'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import type { Systems } from '../../kernel/contract/ports.ts'

type Serve = (request: Request, response: Response) => Promise<void>

/**
 * Serves each request in a span, below the one that the client names. Health and assets are asked all the time and
 * cause nothing: they have none.
 */
export function inSpanOfRequest(
  { tracing }: Pick<Systems, 'tracing'>,
  operation: AnyOperation | undefined,
  serve: Serve,
): Serve {
  if (!tracing || operation?.limits?.unmetered) return serve
  const route = operation && { 'http.route': operation.path }
  return (request, response) => {
    const { method } = request
    const start = {
      name: operation ? `${method} ${operation.path}` : method,
      kind: 'server',
      parent: headerOf(request),
      begins: true,
      attributes: { 'http.request.method': method, ...route },
    } as const
    return tracing.span(start, async ({ set, fail }) => {
      await serve(request, response)
      const { statusCode } = response
      set({ 'http.response.status_code': statusCode })
      if (statusCode >= 500) fail(String(statusCode))
    })
  }
}

/** A header that is sent twice says nothing. */
function headerOf({ headers }: Request): string | undefined {
  const { traceparent } = headers
  return typeof traceparent === 'string' ? traceparent : undefined
}
