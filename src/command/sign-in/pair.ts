import { createHash, randomBytes } from 'node:crypto'
import { type CommandContext, resultOrFailure } from '../context.ts'
import { localSandboxConnection } from '../credentials.ts'
import { openBrowser } from './browser.ts'
import { bodyIfOk, type SignInRequest, serviceClientAt } from './service.ts'
import { pollUntilDecided, requireIssuedKey } from './wait.ts'

interface Started {
  readonly code: string
  readonly pairingCode: string
  readonly url: string
  readonly expiresIn: number
  readonly interval: number
}

/** Signs in with the browser of this machine (PKCE): a person compares the code there and approves with a passkey. */
export async function signInByPairing(
  context: CommandContext,
  url: string,
  wish: SignInRequest,
): Promise<string> {
  const { call } = serviceClientAt(context, url)
  const codeVerifier = randomBytes(32).toString('base64url')
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url')
  const started = resultOrFailure(
    await call('cliAuth.start', { body: { codeChallenge, ...wish } }),
  ) as Started
  await show(context, started.pairingCode, (await sandboxLink(context, url, started.url)) ?? started.url)
  const body = { code: started.code, codeVerifier }
  const { key } = (await pollUntilDecided(() => call('cliAuth.token', { body }), started, context)) as {
    key: unknown
  }
  return requireIssuedKey(key)
}

async function show(context: CommandContext, pairingCode: string, page: string): Promise<void> {
  const isOpen = context.options['no-browser'] !== true && (await openBrowser(page, context))
  context.note(isOpen ? 'Your browser opens. If not, open:' : 'Open this page in a browser:')
  context.note('')
  context.note(`  ${page}`)
  context.note('')
  context.note(`The page shows a code. Continue only if it is: ${pairingCode}`)
}

interface Listed {
  readonly data: readonly { readonly id: string; readonly status?: string }[]
}

/**
 * In the sandbox of `npm start`, until a passkey exists: a link that signs the owner in, leads to the page
 * and creates the first passkey. Undefined elsewhere, where people sign in with their passkeys.
 */
async function sandboxLink(context: CommandContext, url: string, page: string): Promise<string | undefined> {
  const sandbox = localSandboxConnection(context.env)
  if (!sandbox?.key || new URL(sandbox.url).origin !== new URL(url).origin) return undefined
  const { call } = serviceClientAt(context, url, sandbox.key)
  const passkeys = bodyIfOk<Listed>(await call('passkeys.list', { query: { status: 'active', limit: '1' } }))
  if (!passkeys || passkeys.data.length > 0) return undefined
  const people = bodyIfOk<Listed>(await call('people.list', { query: { role: 'owner', limit: '100' } }))
  const owner = people?.data.find(({ status }) => status !== 'removed')
  const link = bodyIfOk<{ url: string }>(
    await call('console.createLink', { body: { personId: owner?.id ?? null } }),
  )
  return link && leadingTo(link.url, page)
}

/** The token of the link is after the `#`, and the page before it. */
function leadingTo(link: string, page: string): string {
  const url = new URL(link)
  const { pathname, search } = new URL(page)
  url.searchParams.set('to', pathname + search)
  return url.href
}
