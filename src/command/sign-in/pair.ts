import { createHash, randomBytes } from 'node:crypto'
import { type CommandContext, resultOrFailure } from '../context.ts'
import { readLocalSandbox } from '../credentials.ts'
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

/**
 * A link that signs an owner in to the sandbox, leads to the page, and makes the first passkey. It needs the
 * dashboard secret: a key signs no person in. Undefined without the secret, and where the key is of live mode.
 */
async function sandboxLink(context: CommandContext, url: string, page: string): Promise<string | undefined> {
  const { dashboardSecret, ownerId } = await operatorOf(context, url)
  if (dashboardSecret === undefined || ownerId === undefined) return undefined
  const { call } = serviceClientAt(context, url, { dashboardSecret })
  const link = bodyIfOk<{ url: string }>(await call('console.createSandboxLink', { body: { ownerId } }))
  return link && leadingTo(link.url, page)
}

interface Operator {
  readonly dashboardSecret?: string | undefined
  readonly ownerId?: string | undefined
}

/** The data folder of `npm start` is for its own address. The environment has a secret and a key for any address. */
async function operatorOf(context: CommandContext, url: string): Promise<Operator> {
  const sandbox = readLocalSandbox(context.env)
  if (sandbox && new URL(sandbox.url).origin === new URL(url).origin) return sandbox
  const { AGENTPAY_DASHBOARD_SECRET: dashboardSecret, AGENTPAY_KEY: key } = context.env
  if (!dashboardSecret || !key) return {}
  const own = bodyIfOk<{ ownerId: string; mode: string }>(
    await serviceClientAt(context, url, { key }).call('keys.current'),
  )
  return own?.mode === 'test' ? { dashboardSecret, ownerId: own.ownerId } : {}
}

/** The token of the link is after the `#`, and the page before it. */
function leadingTo(link: string, page: string): string {
  const url = new URL(link)
  const { pathname, search } = new URL(page)
  url.searchParams.set('to', pathname + search)
  return url.href
}
