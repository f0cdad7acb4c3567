import { hash } from 'node:crypto'
import type { Actor, Mode } from '../../../kernel/contract/actor.ts'
import type { ReceiverTools, SignedRequestReceiver } from '../../../kernel/contract/area.ts'
import type { ApiResponse } from '../../../kernel/contract/call.ts'
import type { SignedRequest, Systems } from '../../../kernel/contract/ports.ts'
import { Problem } from '../../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import type {
  CardMessageContent,
  CardProcessor,
  CardReply,
  ProcessorAnswer,
} from '../../../ports/card-processor.ts'
import { clock } from '../../../values/clock.ts'
import { LATE_REPLY } from '../card-checks.ts'
import { type IncomingMessage, intentSearchFor } from '../incoming-message.ts'

const modes: readonly Mode[] = ['test', 'live']

const operations: Readonly<Partial<Record<CardMessageContent['kind'], string>>> = {
  number_closed: 'authorizations.notice',
  shipped: 'authorizations.notice',
  mobile_wallet: 'authorizations.notice',
  dispute: 'disputes.notice',
}

/**
 * Verifies the signature first, then finds the card, which determines the owner. One account may issue cards and
 * charge others: what is no message of the processor may be a notice of the acquirer.
 */
export const receiveProcessorWebhook: SignedRequestReceiver = async (request, tools) => {
  const processor = processorOf(tools.systems, request)
  const read = processor?.read(request.body, request.headers, clock.real())
  if (!processor || !read || read.kind === 'unsigned' || read.kind === 'ignored') {
    const unsigned = read?.kind === 'unsigned' ? read.reason : 'The signature of a card processor is missing.'
    const received = await receiveAcquirerNotice(request, tools)
    return received ?? (read?.kind === 'ignored' ? { outcome: ACCEPTED } : { unsigned })
  }
  if (read.kind === 'unreadable') throw new Problem('invalid_request', read.reason)
  const { content, processorCardId } = read.message
  const number = await findNumber(tools.sql, processor.name, processorCardId)
  if (!number)
    return { outcome: outcomeOf(processor.answer(read.message, unknownCard(content)), 'unknown_card') }
  const { ownerId, mode, agentId, cardId, numberId } = number
  const time = new AnswerTime()
  const message: IncomingMessage = {
    ...read.message,
    ...{ agentId, cardId, numberId },
    digest: hash('sha256', request.body, 'base64url'),
    search: intentSearchFor(content, number),
    isTooLate: time.isTooLate,
    answer: reply => processor.answer(read.message, reply),
  }
  const tenant = { ownerId, mode }
  const actor: Actor = { type: 'signed', id: processor.name, tenant, agentId: null, scopes: new Set() }
  const process = async (): Promise<ApiResponse> => {
    const operation = operations[content.kind] ?? 'authorizations.take'
    const { body } = await tools.run(operation, actor, message, request)
    return outcomeOf(JSON.parse(String(body)))
  }
  const isQuestion = content.kind === 'authorization'
  const outcome = await (isQuestion ? answerInTime({ message, time, process }, request, tools) : process())
  return { outcome, actor }
}

function processorOf(systems: Systems, { headers }: SignedRequest): CardProcessor | undefined {
  for (const mode of modes) {
    const processor = ifConfigured(() => systems.cardProcessor(mode))
    if (processor?.recognizes(headers)) return processor
  }
  return undefined
}

function acquirerOf(systems: Systems, { headers }: SignedRequest) {
  for (const mode of modes) {
    const { name, notices } = ifConfigured(() => systems.acquirer(mode)) ?? {}
    if (name !== undefined && notices?.recognizes(headers)) return { name, notices }
  }
  return undefined
}

const ACCEPTED: ApiResponse = { status: 200, body: '{}' }

type Received = Awaited<ReturnType<SignedRequestReceiver>>

/** Undefined if no acquirer has signed it. */
async function receiveAcquirerNotice(
  request: SignedRequest,
  { systems, run }: ReceiverTools,
): Promise<Received | undefined> {
  const acquirer = acquirerOf(systems, request)
  const notice = await acquirer?.notices.read(request.body, request.headers, clock.real())
  if (!acquirer || !notice || notice.kind === 'unsigned') return undefined
  if (notice.kind === 'ignored') return { outcome: ACCEPTED }
  if (notice.kind === 'unreadable') throw new Problem('invalid_request', notice.reason)
  if (notice.kind === 'unanswered')
    throw new Problem('unavailable', 'The acquirer does not answer. Send the notice again.')
  const { ownerId, mode, about, reference } = notice
  const tenant = { ownerId, mode }
  const actor: Actor = { type: 'signed', id: acquirer.name, tenant, agentId: null, scopes: new Set() }
  return { outcome: await run('settlements.notice', actor, { about, reference }, request), actor }
}

function ifConfigured<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

interface CachedNumber extends Row {
  readonly ownerId: string
  readonly mode: Mode
  readonly agentId: string
  readonly cardId: string
  readonly numberId: string
}

const FIND = `
select owner_id as "ownerId", mode, agent_id as "agentId", card_id as "cardId", id as "numberId"
from card_numbers where processor_card_id = $1 and processor = $2`

const MAX_CACHED = 100_000
const cachedNumbers = new Map<string, CachedNumber>()

/** Messages name no owner: the processor's id of the card determines it. Read once per card and process. */
async function findNumber(
  sql: Sql,
  processor: string,
  processorCardId: string,
): Promise<CachedNumber | undefined> {
  const key = `${processor} ${processorCardId}`
  const found = cachedNumbers.get(key)
  if (found) return found
  const [number] = await sql<CachedNumber>(FIND, [processorCardId, processor])
  if (!number) return undefined
  if (cachedNumbers.size >= MAX_CACHED) cachedNumbers.clear()
  cachedNumbers.set(key, number)
  return number
}

/** A request for an unknown card is declined; any other message is acknowledged, so that it is not sent again. */
const unknownCard = ({ kind }: CardMessageContent): CardReply =>
  kind === 'authorization' ? { kind: 'declined', reason: 'There is no such card.' } : { kind: 'noted' }

function outcomeOf({ status, headers, body }: ProcessorAnswer, errorCode?: string): ApiResponse {
  const { 'content-type': type = 'application/json', ...others } = headers
  return { status, body, type, headers: others, ...(errorCode ? { errorCode } : {}) }
}

/** Which came first: the decision, for whose commit the answer then waits, or the end of the network's time. */
class AnswerTime {
  #isOver = false
  #isDecided = false

  /** A decision after the end of the time declines, since that was the answer. */
  readonly isTooLate = (): boolean => {
    this.#isDecided ||= !this.#isOver
    return this.#isOver
  }

  /** Returns whether no decision has begun, so that the answer is a decline now. */
  end(): boolean {
    this.#isOver = true
    return !this.#isDecided
  }
}

interface Question {
  readonly message: IncomingMessage
  readonly time: AnswerTime
  readonly process: () => Promise<ApiResponse>
}

/**
 * The network does not wait: what is not decided in time is answered and stored as declined. A decision that is being
 * committed as the time ends is the answer, however long the commit takes: any other could contradict what is stored.
 * If the network no longer listens, or the outcome of the commit is unknown, the processor's account decides.
 */
async function answerInTime(
  { message, time, process }: Question,
  { requestId }: SignedRequest,
  { settings, onFailure }: ReceiverTools,
): Promise<ApiResponse> {
  /** A locked row is not a failure: the request is declined, and the log has the code. */
  const report = (error: unknown): undefined => {
    const code = error instanceof Problem ? error.code : undefined
    if (code === 'outcome_unknown') throw error
    if (code !== 'busy') onFailure(error, requestId)
  }
  let cancel = (): void => undefined
  const alarm = new Promise<undefined>(resolve => {
    cancel = clock.alarm(settings.cardAuthTimeoutMs, () => time.end() && resolve(undefined))
  })
  const decision = process().catch(report)
  const outcome = await Promise.race([decision, alarm]).finally(() => cancel())
  if (outcome) return outcome
  time.end()
  void decision.then(async stored => stored ?? storeDecline(process, report)).catch(() => undefined)
  return outcomeOf(message.answer(LATE_REPLY), 'decided_too_late')
}

/** Retried while the database is busy, so that a repeated message gets the same answer. */
async function storeDecline(
  process: () => Promise<ApiResponse>,
  report: (error: unknown) => undefined,
  attempts = 5,
): Promise<void> {
  try {
    await process()
  } catch (error) {
    if (attempts > 1) await storeDecline(process, report, attempts - 1)
    else report(error)
  }
}
