import { parseCallAnswer } from '../../derive/call.ts'
import { didYouMeanText } from '../../values/nearest.ts'
import { serverSentEvents } from '../../values/server-sent-events.ts'
import type { OptionValues } from '../arguments/parse.ts'
import { readPages } from '../calls/pages.ts'
import { readText, type ServiceReply } from '../calls/send.ts'
import { type CommandContext, resultOrFailure } from '../context.ts'
import { CommandFailure, type CommandIo, type ExitCode, exitCodes, usageError } from '../io.ts'

export interface EventFilter {
  readonly query: Readonly<Record<string, unknown>>
  has(event: string): boolean
}

export function parseEventNames(value: OptionValues[string]): readonly string[] {
  const names = [value ?? []]
    .flat()
    .flatMap(text => String(text).split(','))
    .map(name => name.trim())
    .filter(name => name !== '')
  return names.includes('*') ? [] : [...new Set(names)]
}

/** The service filters by one name. Several are filtered here, after checking that such events exist. */
export async function createEventFilter(
  names: readonly string[],
  agentId: string | undefined,
  context: Pick<CommandContext, 'result'>,
): Promise<EventFilter> {
  if (names.length > 1) await refuseUnknown(names, context)
  return {
    query: {
      ...(names.length === 1 ? { event: names[0] } : {}),
      ...(agentId === undefined ? {} : { agentId }),
    },
    has: event => names.length === 0 || names.includes(event),
  }
}

async function refuseUnknown(
  names: readonly string[],
  { result }: Pick<CommandContext, 'result'>,
): Promise<void> {
  const known: string[] = []
  for await (const types of readPages<{ event: string }>('events.types', {}, { result }))
    known.push(...types.map(({ event }) => event))
  const unknown = names.find(name => !known.includes(name))
  if (unknown !== undefined)
    throw usageError(
      `There is no event ${unknown}.${didYouMeanText(unknown, known)} agentpay events types lists them.`,
    )
}

export interface FollowedEvent {
  readonly id: string
  readonly event: string
  readonly createdAt: string
  readonly data: Readonly<Record<string, unknown>>
  readonly requestId: string
}

type Means = Pick<CommandContext, 'open' | 'result' | 'io' | 'note'>

const AGAIN_AFTER_MS = 1_000

/**
 * The events after the given one, or from now on, until the user interrupts. A broken connection resumes
 * after the last event: none is missed, and a duplicate has the same id.
 */
export async function* followEvents(
  means: Means,
  wanted: EventFilter,
  after?: string,
): AsyncGenerator<FollowedEvent> {
  let last = after ?? (await newestId(means))
  let reply: ServiceReply | undefined = await openStream(means, wanted, last)
  means.note(`Following events ${after ? `after ${after}` : 'from now on'}. Press Ctrl+C to stop.`)
  for (;;) {
    for await (const event of reply ? eventsIn(reply) : []) {
      last = event.id
      if (wanted.has(event.event)) yield event
    }
    if (reply) means.note('The connection broke. Resuming after the last event.')
    await means.io.wait(AGAIN_AFTER_MS)
    reply = await openAgain(means, wanted, last)
  }
}

async function* eventsIn({ content }: ServiceReply): AsyncGenerator<FollowedEvent> {
  try {
    for await (const { data } of serverSentEvents(content)) yield JSON.parse(data)
  } catch (error) {
    if (!isBreak(error)) throw error
  }
}

/** Where a stream starts: no event is missed, even while the first connection is being made. */
async function newestId({ result }: Means): Promise<string | undefined> {
  const { data } = await result<{ data: readonly FollowedEvent[] }>('events.list', { query: { limit: 1 } })
  return data[0]?.id
}

const isBreak = (error: unknown): boolean =>
  error instanceof CommandFailure && error.exitCode === exitCodes.notReachable

async function openStream(
  { open }: Means,
  { query }: EventFilter,
  last: string | undefined,
): Promise<ServiceReply> {
  const headers = last === undefined ? {} : { 'last-event-id': last }
  const reply = await open('events.stream', { query, headers })
  if (reply.status === 200) return reply
  resultOrFailure(parseCallAnswer(reply.status, reply.headers, await readText(reply.content)))
  throw new CommandFailure(exitCodes.refused, `A stream was expected, not the status ${reply.status}.`)
}

/** Temporary failures during a restart: the service is busy, or still counts the old stream. */
const passes = (error: unknown): boolean =>
  isBreak(error) || (error instanceof CommandFailure && PASSING.has(error.code ?? ''))

const PASSING: ReadonlySet<string> = new Set([
  'busy',
  'overloaded',
  'unavailable',
  'too_many_streams',
  '502',
  '503',
  '504',
])

async function openAgain(
  means: Means,
  wanted: EventFilter,
  last: string | undefined,
): Promise<ServiceReply | undefined> {
  try {
    return await openStream(means, wanted, last)
  } catch (error) {
    if (passes(error)) return undefined
    throw error
  }
}

/** Runs until the user interrupts, which is the normal end of such a command. */
export async function runUntilInterrupted(
  { signal }: Pick<CommandIo, 'signal'>,
  follow: Promise<void>,
): Promise<ExitCode> {
  try {
    await follow
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return exitCodes.done
}
