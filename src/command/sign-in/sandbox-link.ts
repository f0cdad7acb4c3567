import type { Context } from '../context.ts'
import { sandboxOf } from '../credentials.ts'
import { bodyIn, callerAt } from './service.ts'

interface Listed {
  readonly data: readonly { readonly id: string; readonly status?: string }[]
}

/**
 * In the sandbox of `npm start`, while nobody has a passkey: a link by which the owner signs in on the way to a page, and
 * makes the first one. Undefined everywhere else: there people sign in by their passkeys.
 */
export async function sandboxLink(context: Context, url: string, page: string): Promise<string | undefined> {
  const sandbox = sandboxOf(context.env)
  if (!sandbox?.key || new URL(sandbox.url).origin !== new URL(url).origin) return undefined
  const { call } = callerAt(context, url, sandbox.key)
  const passkeys = bodyIn<Listed>(await call('passkeys.list', { query: { status: 'active', limit: '1' } }))
  if (!passkeys || passkeys.data.length > 0) return undefined
  const people = bodyIn<Listed>(await call('people.list', { query: { role: 'owner', limit: '100' } }))
  const owner = people?.data.find(({ status }) => status !== 'removed')
  const link = bodyIn<{ url: string }>(
    await call('console.createLink', { body: { personId: owner?.id ?? null } }),
  )
  return link && leadingTo(link.url, page)
}

/** The token of the link stands behind the `#`; the page before it. */
function leadingTo(link: string, page: string): string {
  const url = new URL(link)
  const { pathname, search } = new URL(page)
  url.searchParams.set('to', pathname + search)
  return url.href
}
