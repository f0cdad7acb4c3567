import { randomBytes } from 'node:crypto'
import type { Context } from '../context.ts'
import { LOOPBACK } from '../credentials.ts'
import { followEvents, untilInterrupted } from '../events/follow.ts'
import { namesIn, type Wanted, wantedOf } from '../events/wanted.ts'
import { type ExitCode, usageError } from '../io.ts'
import { parseUrl } from '../parse-url.ts'
import { deliver } from './deliver.ts'

const SECRET = 'AGENTPAY_WEBHOOK_SECRET'

/** Where the receiver is: on this machine, unless another one is asked for. */
function receiverOf({ forward, 'allow-remote': mayBeRemote }: Context['options']): URL {
  const url = parseUrl(String(forward ?? ''))
  if (!url || !/^https?:$/.test(url.protocol))
    throw usageError('--forward is the address of your receiver, such as http://localhost:3000')
  if (url.username !== '') throw usageError('--forward has no name and password in it.')
  if (mayBeRemote !== true && !LOOPBACK.test(url.hostname))
    throw usageError(
      `${url.hostname} is not this machine, and the receiver reads all that your key may read: --allow-remote if you mean it.`,
    )
  return url
}

/** The secret that signs. One that was made for this run is shown; that of the environment is known already. */
function secretOf({ env, note }: Pick<Context, 'env' | 'note'>): string {
  const given = env[SECRET]
  if (given) {
    note(`Signed with the secret in ${SECRET}.`)
    return given
  }
  // In the form of Standard Webhooks, so that one secret verifies both signatures.
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  note(`The secret of this run, for your receiver: ${secret}`)
  return secret
}

/** A ping goes to the subscription that it names, and there is none. */
const delivered = (wanted: Wanted): Wanted => ({
  ...wanted,
  has: event => event !== 'webhook.ping' && wanted.has(event),
})

/** How many events are delivered before the command ends; all that come where it is not said. */
function mostOf({ count }: Context['options']): number {
  if (count === undefined) return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,5}$/.test(String(count))) throw usageError('--count is a whole number from 1 on.')
  return Number(count)
}

const afterOf = ({ after }: Context['options']): string | undefined =>
  after === undefined ? undefined : String(after)

export async function listenFor(context: Context): Promise<ExitCode> {
  const receiver = receiverOf(context.options)
  const wanted = delivered(await wantedOf(namesIn(context.options.events), undefined, context))
  const secret = secretOf(context)
  const most = mostOf(context.options)
  const follow = async () => {
    let sent = 0
    for await (const event of followEvents(context, wanted, afterOf(context.options))) {
      await deliver(event, { receiver, secret, context })
      if (++sent === most) return
    }
  }
  return untilInterrupted(context.io, follow())
}
