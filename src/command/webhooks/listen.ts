import { createHash, randomBytes, randomInt } from 'node:crypto'
import { NoAnswer } from '../../derive/retry.ts'
import { clock } from '../../values/system-clock.ts'
import { signWebhookHeaders } from '../../values/webhook-signature.ts'
import { type ServiceReply, sendServiceRequest } from '../calls/send.ts'
import type { CommandContext } from '../context.ts'
import { LOOPBACK_HOST } from '../credentials.ts'
import {
  createEventFilter,
  type EventFilter,
  type FollowedEvent,
  followEvents,
  parseEventNames,
  runUntilInterrupted,
} from '../events/follow.ts'
import { type ExitCode, parseUrl, usageError } from '../io.ts'
import { formatCell } from '../output/tables.ts'
import { escapedJsonLine } from '../output/terminal.ts'

const SECRET = 'AGENTPAY_WEBHOOK_SECRET'

function receiverOf({ forward, 'allow-remote': mayBeRemote }: CommandContext['options']): URL {
  const url = parseUrl(String(forward ?? ''))
  if (!url || !/^https?:$/.test(url.protocol))
    throw usageError(
      '--forward is not a URL. Write the address of your receiver, such as http://localhost:3000',
    )
  if (url.username !== '') throw usageError('--forward contains a name or password. Leave them out.')
  if (mayBeRemote !== true && !LOOPBACK_HOST.test(url.hostname))
    throw usageError(
      `${url.hostname} is not this machine, and the receiver would get everything that your key can read. Use --allow-remote to allow it.`,
    )
  return url
}

/** The signing secret. A generated one is shown; that of the environment is known already. */
function secretOf({ env, note }: Pick<CommandContext, 'env' | 'note'>): string {
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

/** Excludes pings: each is sent to one subscription, and this receiver has none. */
const delivered = (wanted: EventFilter): EventFilter => ({
  ...wanted,
  has: event => event !== 'webhook.ping' && wanted.has(event),
})

function mostOf({ count }: CommandContext['options']): number {
  if (count === undefined) return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,5}$/.test(String(count)))
    throw usageError('--count is not a whole number of at least 1. Write one such as 5.')
  return Number(count)
}

const afterOf = ({ after }: CommandContext['options']): string | undefined =>
  after === undefined ? undefined : String(after)

export async function forwardWebhooks(context: CommandContext): Promise<ExitCode> {
  const receiver = receiverOf(context.options)
  const wanted = delivered(
    await createEventFilter(parseEventNames(context.options.events), undefined, context),
  )
  const secret = secretOf(context)
  const most = mostOf(context.options)
  const follow = async () => {
    let sent = 0
    for await (const event of followEvents(context, wanted, afterOf(context.options))) {
      await deliver(event, { receiver, secret, context })
      if (++sent === most) return
    }
  }
  return runUntilInterrupted(context.io, follow())
}

interface Means {
  readonly receiver: URL
  readonly secret: string
  readonly context: Pick<CommandContext, 'io' | 'say' | 'asJson'>
}

interface Attempt {
  readonly eventId: string
  readonly event: string
  readonly deliveryId: string
  readonly status: number | null
  readonly latencyMs: number
  readonly error: string | null
  readonly responseStart: string
}

/** The service's timeout for receivers. */
const SILENCE_MS = 30_000
const READ_BYTES = 1_024
const SHOWN = 200
/** Before the second and third attempt. Shorter than the service's, because a developer is watching. */
const PAUSES_MS = [1_000, 3_000]
const GONE = 410

/** Delivers an event in at most three attempts. A 410 ends them. */
async function deliver(event: FollowedEvent, means: Means): Promise<void> {
  for (let n = 0; ; n++) {
    const attempt = await post(event, n + 1, means)
    printAttempt(attempt, means)
    const pause = PAUSES_MS[n]
    if (isTaken(attempt) || attempt.status === GONE || pause === undefined) return
    await means.context.io.wait(pause)
  }
}

const isTaken = ({ status }: Attempt): boolean => status !== null && status >= 200 && status < 300

/** The same for all attempts of an event in one run, as the id of a delivery is. */
const deliveryIdOf = ({ id }: FollowedEvent, secret: string): string => {
  const rest = createHash('sha256').update(`${secret}.${id}`).digest('hex').slice(0, 16)
  return `delivery_${id.slice('event_'.length).slice(0, 10)}${rest}`
}

const MAX_RANDOM = 2 ** 48 - 1

async function post(event: FollowedEvent, n: number, { receiver, secret, context }: Means): Promise<Attempt> {
  const { id: eventId, event: name, createdAt, data, requestId } = event
  const deliveryId = `${deliveryIdOf(event, secret)}-${n}.${randomInt(MAX_RANDOM)}`
  const body = JSON.stringify({ event: name, createdAt, data })
  const signed = { deliveryId, eventId, event: name, body, requestId, at: clock.real() }
  const headers = signWebhookHeaders(signed, { current: secret, next: null })
  const began = clock.ticks()
  const base = { eventId, event: name, deliveryId }
  const latencyMs = () => Math.round(clock.ticks() - began)
  try {
    const sent = { url: receiver.href, method: 'POST', headers, body }
    const reply = await sendServiceRequest(sent, context.io.signal, SILENCE_MS)
    const responseStart = await beginningOf(reply)
    return { ...base, status: reply.status, latencyMs: latencyMs(), error: refusalOf(reply), responseStart }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    const { message } = error
    return { ...base, status: null, latencyMs: latencyMs(), error: message, responseStart: '' }
  }
}

function refusalOf({ status }: ServiceReply): string | null {
  if (status >= 200 && status < 300) return null
  if (status === GONE) return 'it is gone: the service would disable the subscription'
  if (status >= 300 && status < 400) return 'redirects are not followed'
  return 'only a 2xx acknowledges a delivery'
}

async function beginningOf({ content }: ServiceReply): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of content) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes >= READ_BYTES) break
  }
  return Buffer.concat(pieces).toString('utf8').slice(0, SHOWN)
}

function printAttempt(attempt: Attempt, { context: { say, asJson } }: Means): void {
  if (asJson) return void say(escapedJsonLine(attempt))
  const { event, eventId, status, latencyMs, error, responseStart } = attempt
  const answer = error === null ? [] : [`${error}.`, responseStart]
  say(
    [formatCell('status', status), `${latencyMs} ms`.padStart(7), event, eventId, ...answer]
      .join('  ')
      .trimEnd(),
  )
}
