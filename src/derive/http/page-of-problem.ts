import type { IncomingMessage } from 'node:http'
import type { ApiResponse } from '../../kernel/contract/call.ts'
import { mediaTypeOf } from '../../kernel/contract/file.ts'
import { type AnyOperation, needsSignIn, SIGN_IN_PATH } from '../../kernel/contract/operation.ts'
import type { Problem } from '../../kernel/contract/problem.ts'
import { negotiateLanguage } from '../../web/language.ts'
import { renderRefusalPage } from '../../web/refusal-page.ts'

interface Asked extends Pick<IncomingMessage, 'url' | 'headers'> {
  readonly requestId: string
}

/**
 * Shows the problem as a page: a redirect to the sign-in, or an explanation, also where there is no such address. Undefined
 * if the caller is a program, or the request is not for a page.
 */
export function renderProblemPage(
  { code, status, message, headers }: Problem,
  operation: AnyOperation | undefined,
  { url = '', headers: asked, requestId }: Asked,
): ApiResponse | undefined {
  const isPage = operation
    ? mediaTypeOf(operation.returns[1]) === 'text/html'
    : code === 'not_found' && rootFrom(url).length <= DEEPEST_ROOT.length
  if (!isPage || !asked.accept?.includes('text/html')) return undefined
  if (code === 'unauthenticated' && operation && needsSignIn(operation))
    return { status: 303, body: null, headers: { Location: wayTo(SIGN_IN_PATH, url) }, errorCode: code }
  const language = negotiateLanguage(asked['accept-language'])
  const page = renderRefusalPage(
    { code, status, message, requestId, root: rootFrom(url), retryAfter: retryAfter(headers) },
    language,
  )
  return { status, body: page.text, type: 'text/html; charset=utf-8', headers, errorCode: code }
}

const retryAfter = ({ 'Retry-After': seconds }: Problem['headers']): number | undefined =>
  seconds === undefined ? undefined : Number(seconds)

/** Both URLs are relative, since the service may be served below a path that it does not know. */
function wayTo(page: string, url: string): string {
  const to = url.replace(/^\/+/, '')
  return `${rootFrom(url)}${page.slice(1)}?${new URLSearchParams({ to })}`
}

/** A page names its links by the depth of its address: without a bound it would be ten times as long as what was asked. */
const DEEPEST_ROOT = '../'.repeat(20)

const rootFrom = (url: string): string =>
  '../'.repeat((url.replace(/^\/+/, '').split('?')[0] ?? '').split('/').length - 1)
