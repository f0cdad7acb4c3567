import type { IntentSearch } from '../../../control/intents/index.ts'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import type {
  AuthorizationRequest,
  CardFact,
  CardReply,
  ProcessorAnswer,
} from '../../../ports/card-processor.ts'
import { agentLanes } from '../agent-lanes.ts'
import type { AuthorizationRow, MessageRow, UnnamedRefund } from '../authorization-rows.ts'
import { type CardBatch, writeCardBatch } from '../batch.ts'
import { TOO_LATE } from '../blockers.ts'
import { loadCardBatch } from '../load-batch.ts'
import type { messagesApi } from '../messages-api.ts'
import { begunPayment, joined } from './begun-payment.ts'
import type { IncomingMessage } from './incoming-message.ts'
import { creditIdOf, needsOf, processorRefOf, searchOf, unnamedRefundOf } from './needs.ts'
import { takeFact, withdrawAsk } from './take-fact.ts'
import { type TakeContext, takeRequest } from './take-request.ts'

type Take = HandlerOf<typeof messagesApi.take>
type TakeItem = Parameters<Take['decide']>[0]

interface MessageBatch extends CardBatch {
  readonly searches: ReadonlyMap<IncomingMessage, IntentSearch | undefined>
}

async function loadBatch(items: readonly TakeItem[], sql: Sql): Promise<MessageBatch> {
  const { tenant, now } = items[0] as TakeItem
  const messages = items.map(({ input }) => input.body)
  const searches = messages.map(searchOf)
  const batch = await loadCardBatch(sql, { tenant, now }, needsOf(messages, searches))
  return { ...batch, searches: new Map(messages.map((message, n) => [message, searches[n]])) }
}

/** The authorization that a message speaks of, or the confirmed checkout that it is the network's word about. */
function findExisting(
  incoming: IncomingMessage,
  search: IntentSearch | undefined,
  batch: CardBatch,
): AuthorizationRow | undefined {
  const { message, cardId } = incoming
  const { content } = message
  const { authorizations, payments } = batch
  const ref = processorRefOf(content)
  const rows = [...authorizations]
  const known = rows.find(({ processorRef }) => processorRef === ref)
  const begun = begunPayment(content, rows)
  if (begun && known && begun !== known) return joined(begun, known, batch)
  const unnamed = unnamedRefundOf(incoming)
  if (unnamed && !known) return askedBackBy(unnamed, batch)
  if (known || begun || !search) return known ?? begun
  return rows.find(row => {
    const isAwaited = row.processorRef === null && row.status === 'confirmed'
    const isSame = row.agentId === search.agentId && search.merchantKeys.includes(row.merchantKey)
    const most = payments.find(row.intentId)?.holdEuros ?? 0n
    return isAwaited && isSame && (row.cardId ?? cardId) === cardId && search.amountEuros <= most
  })
}

/** A credit that names no payment is of the one of which just so much was asked back. */
function askedBackBy(
  { cardId, merchantKeys, amountEuros }: UnnamedRefund,
  { authorizations, refunds }: CardBatch,
): AuthorizationRow | undefined {
  return [...authorizations].find(
    row =>
      row.cardId === cardId &&
      merchantKeys.includes(row.merchantKey) &&
      row.transactionId !== null &&
      refunds.awaits(row.transactionId, amountEuros),
  )
}

/** Two messages may tell of one credit: where one of them was booked for its payment, the other changes nothing. */
function creditTold(incoming: IncomingMessage, { messages }: CardBatch): MessageRow | undefined {
  const creditId = creditIdOf(incoming.message.content)
  return creditId === null ? undefined : messages.get(creditId)
}

const answerOf = ({ answerStatus, answerHeaders, answerBody }: MessageRow): ProcessorAnswer => ({
  status: answerStatus,
  headers: answerHeaders,
  body: answerBody,
})

function store(
  incoming: IncomingMessage,
  reply: CardReply,
  authorizationId: string | null,
  { tenant, now, messages, changed }: CardBatch,
): ProcessorAnswer {
  const answer = incoming.answer(reply)
  const { message, digest, agentId, cardId } = incoming
  const row: MessageRow = {
    ...tenant,
    id: message.id,
    createdAt: now,
    updatedAt: now,
    agentId,
    cardId,
    authorizationId,
    kind: message.content.kind,
    digest,
    answerStatus: answer.status,
    answerHeaders: { ...answer.headers },
    answerBody: answer.body,
  }
  messages.set(row.id, row)
  changed.newMessages.push(row)
  return answer
}

/** Keeps that a credit was booked for a payment that it does not name. */
function noteCredit(
  id: string,
  { id: authorizationId }: AuthorizationRow,
  incoming: IncomingMessage,
  { tenant, now, messages, changed }: CardBatch,
): void {
  const { digest, agentId, cardId } = incoming
  const { status, headers, body } = incoming.answer({ kind: 'noted' })
  const row: MessageRow = {
    ...{ ...tenant, id, createdAt: now, updatedAt: now, agentId, cardId, authorizationId, digest },
    ...{ kind: 'credit', answerStatus: status, answerHeaders: { ...headers }, answerBody: body },
  }
  messages.set(id, row)
  changed.newMessages.push(row)
}

const LATE: CardReply = { kind: 'declined', reason: TOO_LATE }
const ANOTHER = 'Another message has come under the same id. Nothing was done.'
const CONFLICT: CardReply = { kind: 'declined', reason: ANOTHER }

/** Whether a request has the number of one that has been answered, and another amount. */
const isOtherAsk = ({ ask, amountEuros }: AuthorizationRequest, { facts }: AuthorizationRow): boolean =>
  facts.asks.some(one => one.ask === ask && one.asked !== String(amountEuros))

/** A message whose id has been seen: the same bytes get the same answer; others are refused and reported. */
function repeat(
  stored: MessageRow,
  incoming: IncomingMessage,
  batch: MessageBatch,
  context: TakeContext,
  report: (reason: string) => void,
): ProcessorAnswer {
  if (stored.digest !== incoming.digest) {
    report(ANOTHER)
    const isRequest = incoming.message.content.kind === 'authorization'
    return incoming.answer(isRequest ? CONFLICT : { kind: 'noted' })
  }
  const { content } = incoming.message
  if (!incoming.isLate || content.kind !== 'authorization') return answerOf(stored)
  const row = [...batch.authorizations].find(({ id }) => id === stored.authorizationId)
  if (row) withdrawAsk(row, content.ask, stored.id, batch, context)
  const answer = incoming.answer(LATE)
  Object.assign(stored, {
    updatedAt: batch.now,
    answerStatus: answer.status,
    answerHeaders: { ...answer.headers },
    answerBody: answer.body,
  })
  if (!batch.changed.newMessages.includes(stored)) batch.changed.messages.push(stored)
  return answer
}

/** Takes the messages of a card processor in group commits: questions are decided, facts are booked. */
export const take: Take = {
  lanes: agentLanes(({ body }) => body.agentId),
  load: loadBatch,
  decide({ input: { body } }, batch: MessageBatch, context) {
    const incoming = body
    const { message } = incoming
    const stored = batch.messages.get(message.id)
    const report = (reason: string): void =>
      context.emit('card.message_refused', {
        cardId: incoming.cardId,
        agentId: incoming.agentId,
        messageId: message.id,
        reason,
      })
    if (stored) return repeat(stored, incoming, batch, context, report)
    const told = creditTold(incoming, batch)
    if (told) return store(incoming, { kind: 'noted' }, told.authorizationId, batch)
    const search = batch.searches.get(incoming)
    const existing = findExisting(incoming, search, batch)
    const { content } = message
    if (content.kind === 'authorization' && existing && isOtherAsk(content, existing)) {
      report(ANOTHER)
      return store(incoming, CONFLICT, existing.id, batch)
    }
    const reply =
      content.kind === 'authorization'
        ? takeRequest(incoming, { place: incoming, content, existing, search }, batch, context)
        : takeFact({ incoming, content: content as CardFact, existing, search }, batch, context)
    const ref = processorRefOf(content)
    const row = existing ?? [...batch.authorizations].find(({ processorRef }) => processorRef === ref)
    const creditId = creditIdOf(content)
    if (existing && creditId && existing.processorRef !== ref) noteCredit(creditId, existing, incoming, batch)
    return store(incoming, reply, row?.id ?? null, batch)
  },
  write: (batch: MessageBatch, sql) => writeCardBatch(batch, sql),
}
