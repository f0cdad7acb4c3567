import { hostname, userInfo } from 'node:os'
import { type CommandContext, resultOrFailure } from '../context.ts'
import { type SignInRequest, serviceClientAt } from './service.ts'
import { pollUntilDecided, requireIssuedKey } from './wait.ts'

interface Started {
  readonly deviceCode: string
  readonly userCode: string
  readonly verificationUri: string
  readonly verificationUriComplete: string
  readonly expiresIn: number
  readonly interval: number
}

const SHORTEST_ID = 8
const LONGEST_ID = 128

/** The same each time on this machine, so that people recognize it. It proves nothing. */
const deviceId = (): string =>
  `agentpay-${userInfo().username}@${hostname()}`
    .replace(/[^\w.@-]/g, '-')
    .slice(0, LONGEST_ID)
    .padEnd(SHORTEST_ID, '-')

/** Signs in with a user code that the person types on any other device (RFC 8628), for machines without a browser. */
export async function signInByDeviceCode(
  context: CommandContext,
  url: string,
  wish: SignInRequest,
): Promise<string> {
  const { call } = serviceClientAt(context, url)
  const begun = { deviceId: deviceId(), clientType: 'cli', ...wish }
  const started = resultOrFailure(await call('sessions.begin', { body: begun })) as Started
  context.note('On a device where you have your passkey, open:')
  context.note('')
  context.note(`  ${started.verificationUri}`)
  context.note('')
  context.note(`and type this code: ${started.userCode}`)
  const body = { deviceCode: started.deviceCode }
  const { key } = (await pollUntilDecided(() => call('sessions.token', { body }), started, context)) as {
    key: unknown
  }
  return requireIssuedKey(key)
}
