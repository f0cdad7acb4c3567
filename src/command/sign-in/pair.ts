import { createHash, randomBytes } from 'node:crypto'
import { type Context, resultOf } from '../context.ts'
import { openBrowser } from './browser.ts'
import { sandboxLink } from './sandbox-link.ts'
import { callerAt, type SignInWish } from './service.ts'
import { keyIn, untilDecided } from './wait.ts'

interface Started {
  readonly code: string
  readonly pairingCode: string
  readonly url: string
  readonly expiresIn: number
  readonly interval: number
}

/** Signs in by the browser of this machine: a person compares the code there, and approves with a passkey (PKCE). */
export async function pair(context: Context, url: string, wish: SignInWish): Promise<string> {
  const { call } = callerAt(context, url)
  const codeVerifier = randomBytes(32).toString('base64url')
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url')
  const started = resultOf(await call('cliAuth.start', { body: { codeChallenge, ...wish } })) as Started
  await show(context, started.pairingCode, (await sandboxLink(context, url, started.url)) ?? started.url)
  const body = { code: started.code, codeVerifier }
  const { key } = (await untilDecided(() => call('cliAuth.token', { body }), started, context)) as {
    key: unknown
  }
  return keyIn(key)
}

async function show(context: Context, pairingCode: string, page: string): Promise<void> {
  const isOpen = context.options['no-browser'] !== true && (await openBrowser(page, context))
  context.note(isOpen ? 'Your browser opens. If it does not, open:' : 'Open this page in a browser:')
  context.note('')
  context.note(`  ${page}`)
  context.note('')
  context.note(`It shows a code. Go on only if it is this one: ${pairingCode}`)
}
