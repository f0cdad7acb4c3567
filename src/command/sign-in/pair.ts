import { createHash, randomBytes } from 'node:crypto'
import { type CommandContext, resultOrFailure } from '../context.ts'
import { isSameOrigin, readLocalSandbox } from '../credentials.ts'
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
 * dashboard secret: a key signs no person in. Undefined without the secret, where the key is of live mode, and
 * where the service refuses it.
 */
async function sandboxLink(context: CommandContext, url: string, page: string): Promise<string | undefined> {
  const operator = await operatorOf(context, url)
  if (!operator) return undefined
  const { dashboardSecret, ownerId } = operator
  const { call } = serviceClientAt(context, url, { dashboardSecret })
  const answer = await call('console.createSandboxLink', { body: { ownerId } })
  const link = bodyIfOk<{ url: string }>(answer)
  if (!link) context.note(`There is no sign-in link: ${answer.error}`)
  return link && leadingTo(link.url, page)
}

interface Operator {
  readonly dashboardSecret: string
  readonly ownerId: string
}

/** The data folder of `npm start` is for its own address, and the environment for that of `AGENTPAY_URL`. */
async function operatorOf(context: CommandContext, url: string): Promise<Operator | undefined> {
  const { env } = context
  const sandbox = readLocalSandbox(env)
  if (sandbox && isSameOrigin(sandbox.url, url)) return sandbox
  const { AGENTPAY_DASHBOARD_SECRET: dashboardSecret, AGENTPAY_KEY: key, AGENTPAY_URL: trusted } = env
  if (!dashboardSecret || !key) return undefined
  if (!trusted || !isSameOrigin(trusted, url)) {
    context.note(
      `AGENTPAY_KEY and AGENTPAY_DASHBOARD_SECRET are not sent to ${url}: AGENTPAY_URL ${trusted ? 'names another address' : 'is not set'}. If they are of this service, set AGENTPAY_URL=${url} to get a sign-in link.`,
    )
    return undefined
  }
  const own = bodyIfOk<{ ownerId: string; mode: string }>(
    await serviceClientAt(context, url, { key }).call('keys.current'),
  )
  return own?.mode === 'test' ? { dashboardSecret, ownerId: own.ownerId } : undefined
}

/** The token of the link is after the `#`, and the page before it. */
function leadingTo(link: string, page: string): string {
  const url = new URL(link)
  const { pathname, search } = new URL(page)
  url.searchParams.set('to', pathname + search)
  return url.href
}
