import { hash } from 'node:crypto'
import type { Actor, Mode, Tenant } from '../../../kernel/contract/actor.ts'
import type { Receive, ReceiverTools } from '../../../kernel/contract/area.ts'
import type { Outcome } from '../../../kernel/contract/call.ts'
import type { Ports, SignedRequest } from '../../../kernel/contract/ports.ts'
import { Problem } from '../../../kernel/contract/problem.ts'
import type { CardMessage, CardProcessor, CardReply, ProcessorAnswer } from '../../../ports/card-processor.ts'
import { clock } from '../../../values/clock.ts'
import { TOO_LATE } from '../blockers.ts'
import type { IncomingMessage } from './incoming-message.ts'
import { findNumber, type KnownNumber } from './known-numbers.ts'

const modes: readonly Mode[] = ['test', 'live']

/** The processor whose headers these are; undefined if none of this installation's. */
function processorOf(ports: Ports, { headers }: SignedRequest): CardProcessor | undefined {
  for (const mode of modes) {
    const processor = configured(ports, mode)
    if (processor?.recognizes(headers)) return processor
  }
  return undefined
}

function configured(ports: Ports, mode: Mode): CardProcessor | undefined {
  try {
    return ports.cardProcessor(mode)
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

const LATE: CardReply = { kind: 'declined', reason: TOO_LATE }

function outcomeOf({ status, headers, body }: ProcessorAnswer, errorCode?: string): Outcome {
  const { 'content-type': type = 'application/json', ...others } = headers
  return { status, body, type, headers: others, ...(errorCode ? { errorCode } : {}) }
}

/** Takes a message of a card processor: its signature first, then its card, which tells whose it is. */
export const receive: Receive = async (request, tools) => {
  const processor = processorOf(tools.ports, request)
  if (!processor) return { unsigned: 'The signature of a card processor is missing.' }
  const read = processor.read(request.body, request.headers, clock.real())
  if (read.kind === 'unsigned') return { unsigned: read.reason }
  if (read.kind === 'ignored') return { outcome: { status: 200, body: '{}' } }
  if (read.kind === 'unreadable') throw new Problem('invalid_request', read.reason)
  const { message } = read
  const number = await findNumber(tools.sql, processor.name, message.processorCardId)
  if (!number) return { outcome: outcomeOf(processor.answer(message, unknownCard(message)), 'unknown_card') }
  return new Delivery(request, tools, processor, message, number).take()
}

/** A question about an unknown card is declined; anything else is acknowledged, so that it does not come again. */
const unknownCard = ({ content }: CardMessage): CardReply =>
  content.kind === 'authorization'
    ? { kind: 'declined', reason: 'There is no such card.' }
    : { kind: 'noted' }

/** The operations that take messages; those about a payment are taken in group commits. */
const operations: Readonly<Partial<Record<CardMessage['content']['kind'], string>>> = {
  number_closed: 'authorizations.notice',
  shipped: 'authorizations.notice',
  mobile_wallet: 'authorizations.notice',
  dispute: 'disputes.notice',
}

/** A message on its way through the service. */
class Delivery implements IncomingMessage {
  readonly message: CardMessage
  readonly digest: string
  readonly agentId: string
  readonly cardId: string
  readonly numberId: string
  /** Turns true while the decision is under way: one that begins after that declines. */
  isLate = false
  readonly #request: SignedRequest
  readonly #tools: ReceiverTools
  readonly #processor: CardProcessor
  readonly #actor: Actor

  constructor(
    request: SignedRequest,
    tools: ReceiverTools,
    processor: CardProcessor,
    message: CardMessage,
    { ownerId, mode, agentId, cardId, numberId }: KnownNumber,
  ) {
    this.#request = request
    this.#tools = tools
    this.#processor = processor
    this.message = message
    this.digest = hash('sha256', request.body, 'base64url')
    this.agentId = agentId
    this.cardId = cardId
    this.numberId = numberId
    const tenant: Tenant = { ownerId, mode }
    this.#actor = { type: 'signed', id: processor.name, tenant, agentId: null, scopes: new Set() }
  }

  answer = (reply: CardReply): ProcessorAnswer => this.#processor.answer(this.message, reply)

  async take(): Promise<{ outcome: Outcome; actor: Actor }> {
    const { kind } = this.message.content
    const outcome = await (kind === 'authorization' ? this.#answerInTime() : this.#run())
    return { outcome, actor: this.#actor }
  }

  /**
   * The network does not wait: what is not decided in time is declined. Whatever a decision leaves that had begun before is
   * undone by the same message, marked as late, which runs behind it.
   */
  async #answerInTime(): Promise<Outcome> {
    const { cardAnswerMs } = this.#tools.ports
    const isRunning = Symbol('running')
    let cancel = (): void => undefined
    const alarm = new Promise<typeof isRunning>(resolve => {
      cancel = clock.alarm(cardAnswerMs, () => resolve(isRunning))
    })
    const decision = this.#run()
    const first = await Promise.race([decision, alarm]).catch((error: unknown) => {
      this.#report(error)
      return isRunning
    })
    cancel()
    if (first !== isRunning) return first as Outcome
    this.isLate = true
    void decision.catch(() => undefined).then(() => this.#undo())
    return outcomeOf(this.answer(LATE), 'decided_too_late')
  }

  /** Tried again while the database is busy; the processor's own notice tells its answer, should all of it fail. */
  async #undo(attempts = 5): Promise<void> {
    try {
      await this.#run()
    } catch (error) {
      if (attempts > 1) await this.#undo(attempts - 1)
      else this.#report(error)
    }
  }

  /** A locked row is no failure: the answer is a decline, and its code stands in the log. */
  #report(error: unknown): void {
    if (error instanceof Problem && error.code === 'busy') return
    this.#tools.onFailure(error, this.#request.requestId)
  }

  async #run(): Promise<Outcome> {
    const operation = operations[this.message.content.kind] ?? 'authorizations.take'
    const { body } = await this.#tools.run(operation, this.#actor, this, this.#request)
    return outcomeOf(JSON.parse(String(body)))
  }
}
