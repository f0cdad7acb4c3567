import { randomUUID } from 'node:crypto'
import { buildApiRequest, type CallAnswer, type CallInput, parseCallAnswer } from '../../derive/call.ts'
import { NoAnswer, withRetries } from '../../derive/retry.ts'
import { clock } from '../../values/system-clock.ts'
import type { ServiceConnection } from '../credentials.ts'
import { CommandFailure, type CommandIo, exitCodes, usageError } from '../io.ts'
import type { CommandDefinition, CommandTableFile } from '../table.ts'
import { readText, type ServiceReply, SILENCE_MS, sendServiceRequest } from './send.ts'

export interface ServiceCallInput extends CallInput {
  /** Bytes in place of `body`, for operations that accept any media type. */
  readonly raw?: Uint8Array
  readonly asOperator?: boolean
  /** The time that the call has with its retries. */
  readonly withinMs?: number
}

export type ServiceAnswer = CallAnswer<unknown, ServiceReply['headers']>

export interface ServiceClient {
  call(key: string, input?: ServiceCallInput): Promise<ServiceAnswer>
  open(key: string, input?: ServiceCallInput): Promise<ServiceReply>
}

export interface ServiceClientOptions {
  readonly table: CommandTableFile
  readonly connection: ServiceConnection
  readonly io: CommandIo
}

export function createServiceClient(means: ServiceClientOptions): ServiceClient {
  const open: ServiceClient['open'] = (key, input = {}) => openReply(means, means.table.get(key), input)
  return {
    open,
    async call(key, input) {
      // A connection that breaks within the content is retried like one that breaks before it.
      const reply = await openReply(means, means.table.get(key), input ?? {}, async reply => {
        const text = await readText(reply.content)
        return { ...reply, content: once(text) }
      })
      return readAnswer(reply, await readText(reply.content))
    },
  }
}

function readAnswer({ status, headers }: ServiceReply, text: string): ServiceAnswer {
  try {
    const answer = parseCallAnswer(status, headers, text)
    if (status >= 300 || typeof answer.body !== 'string') return answer
  } catch {}
  throw new CommandFailure(exitCodes.refused, `The response with status ${status} is not JSON.`)
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

async function openReply(
  { connection, io }: ServiceClientOptions,
  command: CommandDefinition,
  { raw, asOperator, withinMs = Number.POSITIVE_INFINITY, ...input }: ServiceCallInput,
  read: (reply: ServiceReply) => Promise<ServiceReply> = async reply => reply,
): Promise<ServiceReply> {
  const idempotencyKey = command.takesKey ? (input.idempotencyKey ?? randomUUID()) : undefined
  const credentials = { url: connection.url, ...credentialFor(command, connection, asOperator) }
  const { body, ...request } = buildApiRequest(credentials, command, {
    ...input,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  })
  const content = raw ?? body
  const sent = { ...request, ...(content === undefined ? {} : { body: content }) }
  const end = clock.ticks() + withinMs
  const leftMs = (): number => end - clock.ticks()
  const attempt = () => sendServiceRequest(sent, io.signal, Math.max(1, Math.min(SILENCE_MS, leftMs())))
  try {
    const reply = await withRetries(async () => read(await attempt()), {
      leftMs,
      isRepeatable: command.isRepeatable === true || idempotencyKey !== undefined,
      onWait: sentence => void io.stderr.write(`${sentence}\n`),
      async drain({ content }) {
        for await (const _ of content);
      },
      wait: io.wait,
    })
    return { ...reply, content: untilBroken(reply, connection, command) }
  } catch (error) {
    throw failureOf(error, connection, command)
  }
}

const failureOf = (error: unknown, connection: ServiceConnection, command: CommandDefinition): unknown =>
  error instanceof NoAnswer ? notReachable(connection, error, command) : error

/** Consumed content cannot be requested again, so a broken file ends with an error. */
async function* untilBroken(
  { content }: ServiceReply,
  connection: ServiceConnection,
  command: CommandDefinition,
): AsyncGenerator<Uint8Array> {
  try {
    yield* content
  } catch (error) {
    throw failureOf(error, connection, command)
  }
}

function notReachable(
  { url, source }: ServiceConnection,
  { message, wasSent }: NoAnswer,
  { method }: CommandDefinition,
): CommandFailure {
  const mayHaveEffect = wasSent && method !== 'GET'
  const effect = mayHaveEffect ? ' The call may have succeeded: check before you repeat it.' : ''
  const remedy = source.startsWith('npm start')
    ? ' Is `npm start` running?'
    : ' Run `agentpay doctor` for details.'
  return new CommandFailure(
    exitCodes.notReachable,
    `${url} cannot be reached: ${message}.${effect || remedy}`,
  )
}

function credentialFor(
  { noun, verb, callers }: CommandDefinition,
  { url, key, dashboardSecret }: ServiceConnection,
  asOperator = false,
): { token?: string; dashboardSecret?: string } {
  const takesKey = ['key', 'agent'].some(caller => callers.includes(caller))
  if (asOperator && !callers.includes('dash'))
    throw usageError(`${noun} ${verb} is not available to the operator. Omit --operator.`)
  if (callers.includes('dash') && (asOperator || !takesKey)) {
    if (dashboardSecret) return { dashboardSecret }
    throw signInFirst(`${noun} ${verb} is for the operator. Set AGENTPAY_DASHBOARD_SECRET.`)
  }
  if (takesKey) {
    if (key) return { token: key }
    throw signInFirst('You are not signed in. Run `agentpay login`, or set AGENTPAY_KEY.')
  }
  if (callers.includes('public')) return {}
  const who = callers.includes('console')
    ? `people in the console: ${new URL('/console', url)}`
    : 'the system that signs its calls'
  throw new CommandFailure(exitCodes.refused, `${noun} ${verb} is only for ${who}`)
}

const signInFirst = (sentence: string): CommandFailure => new CommandFailure(exitCodes.notSignedIn, sentence)
