import type { Request, Response } from 'express'
import type { Systems } from '../../kernel/contract/ports.ts'
import type { RouteMatch } from './routes.ts'

type Serve = (request: Request, response: Response) => Promise<void>

interface Parts {
  readonly systems: Pick<Systems, 'tracing'>
  readonly find: (method: string, path: string) => RouteMatch
}

/**
 * Serves each request in a span, below the one that the client names. Health and assets are asked all the time and
 * cause nothing: they have none.
 */
export function inSpanOfRequest({ systems: { tracing }, find }: Parts, serve: Serve): Serve {
  if (!tracing) return serve
  return (request, response) => {
    const { method } = request
    const [path = ''] = request.url.split('?', 1)
    const found = find(method, path)
    const operation = found && 'registered' in found ? found.registered.operation : undefined
    if (operation?.limits?.unmetered) return serve(request, response)
    const route = operation && { 'http.route': operation.path }
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
