import { agentLanes } from '../../../control/intents/index.ts'
import { isPayableBy } from '../../../control/merchants/index.ts'
import { addReversalsAndExpiry, decodeAuthRequests } from '../../../control/payments/index.ts'
import type { WriteContext } from '../../../kernel/contract/context.ts'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import type {
  AuthorizationRequest,
  CardMessageContent,
  CardReply,
  ProcessorAnswer,
} from '../../../ports/card-processor.ts'
import { NO_CENTS } from '../../../values/money.ts'
import { applyCardNotice } from '../../cards/index.ts'
import type { authorizationsApi } from '../api.ts'
import { applyCardFact } from '../apply-facts.ts'
import {
  type AuthorizationRow,
  CardMessage,
  type CardMessageRow,
  isAwaited,
  isPlaceholder,
} from '../authorization.ts'
import type { UnlinkedRefund } from '../authorization-rows.ts'
import { authorizeCardPayment } from '../authorize.ts'
import { type CardBatch, loadCardBatch, writeCardBatch } from '../batch.ts'
import {
  cardBatchQueryFor,
  type IncomingMessage,
  isAuthorizationRequest,
  messageProcessorRef,
  type PaymentMessage,
  type SharedPaymentReport,
  sharedPaymentReport,
  unlinkedRefundId,
  unlinkedRefundIn,
} from '../incoming-message.ts'

type ProcessMessages = HandlerOf<typeof authorizationsApi.take>
type MessageContext = Parameters<ProcessMessages['decide']>[2]

const DIFFERENT_BYTES = 'Another message with the same ID was received before. Nothing was done.'
const ACKNOWLEDGED: CardReply = { kind: 'noted' }
const CONFLICT: CardReply = { kind: 'declined', reason: DIFFERENT_BYTES }

export const processMessages: ProcessMessages = {
  lanes: agentLanes(({ body }) => body.agentId),
  load(items, sql) {
    const [first] = items
    if (!first) throw new Error('a batch without messages')
    return loadCardBatch(sql, first, cardBatchQueryFor(items.map(({ input }) => input.body)))
  },
  decide({ input: { body } }, batch: CardBatch, context) {
    const isLate = body.isTooLate()
    const stored = batch.messages.get(body.id)
    if (stored) return repeatAnswer(stored, body, context)
    const message = withSharedToken(body, batch)
    const creditId = unlinkedRefundId(message.content)
    const credit = creditId === null ? undefined : batch.messages.get(creditId)
    // Two messages may report one credit: the second changes nothing.
    if (credit) return store(message, ACKNOWLEDGED, credit.authorizationId, batch)
    const existing = findAuthorization(message, batch)
    if (isAuthorizationRequest(message) && existing && isOtherRequest(message.content, existing)) {
      refuse(message, context)
      return store(message, CONFLICT, existing.id, batch)
    }
    const { reply, authorizationId } = isAuthorizationRequest(message)
      ? authorizeCardPayment({ ...message, isLate }, existing, batch, context)
      : applyCardFact(message, existing, batch, context)
    // The payment that the credit was booked on may have another reference at the processor.
    if (existing && creditId && existing.processorRef !== messageProcessorRef(message.content))
      store(message, ACKNOWLEDGED, existing.id, batch, { id: creditId, kind: 'credit' })
    return store(message, reply, authorizationId, batch)
  },
  write: (batch: CardBatch, sql) => writeCardBatch(batch, sql),
}

export const processCardNotice: HandlerOf<typeof authorizationsApi.notice> = ({ body: message }, context) => {
  const { content, cardId, numberId } = message
  return processMessageOnce(message, context, () =>
    applyCardNotice({ id: numberId, cardId }, content, context),
  )
}

/** Acts on a message and stores it with its answer. A repetition changes nothing and gets the same answer. */
export async function processMessageOnce(
  message: IncomingMessage,
  { em }: WriteContext,
  act: () => Promise<void>,
): Promise<ProcessorAnswer> {
  const stored = await em.findOne(CardMessage, { id: message.id })
  if (stored) return answerOf(stored)
  await act()
  const row = em.create(CardMessage, storedMembers(message, ACKNOWLEDGED))
  return answerOf(row)
}

/** A known message id: the same bytes get the same answer, and other bytes are refused and reported. */
function repeatAnswer(
  stored: CardMessageRow,
  message: IncomingMessage,
  context: MessageContext,
): ProcessorAnswer {
  if (stored.digest === message.digest) return answerOf(stored)
  refuse(message, context)
  return message.answer(isAuthorizationRequest(message) ? CONFLICT : ACKNOWLEDGED)
}

const refuse = ({ id: messageId, cardId, agentId }: IncomingMessage, { emit }: MessageContext): void =>
  emit('card.message_refused', { cardId, agentId, messageId, reason: DIFFERENT_BYTES })

const isOtherRequest = ({ ask, amountCents }: AuthorizationRequest, { facts }: AuthorizationRow): boolean =>
  decodeAuthRequests(facts).some(
    ({ increment, requestedCents }) => increment === ask && requestedCents !== amountCents,
  )

function findAuthorization(message: IncomingMessage, batch: CardBatch): AuthorizationRow | undefined {
  const { content, cardId, search } = message
  const { authorizations, payments } = batch
  const ref = messageProcessorRef(content)
  const rows = [...authorizations]
  const known = rows.find(({ processorRef }) => processorRef === ref)
  const begun = findMachinePayment(content, rows)
  if (begun && known && begun !== known) return merge(begun, known, batch)
  const unnamed = unlinkedRefundIn(message)
  if (unnamed && !known) return findRefunded(unnamed, batch)
  if (begun || !search || isCardCheck(content)) return known ?? begun
  // The network may have a payment made that was declined here: then it is the confirmed one.
  if (known && (known.status !== 'declined' || isAuthorizationRequest(message))) return known
  const most = (row: AuthorizationRow) => payments.find(row.intentId)?.holdCents ?? NO_CENTS
  const awaited = rows.filter(row => {
    const isSame = row.agentId === search.agentId && isPayableBy(row, search)
    return isAwaited(row) && isSame && (row.cardId ?? cardId) === cardId && search.amountCents <= most(row)
  })
  const [first] = awaited.toSorted((one, other) => Number(most(one) - most(other)))
  return first ?? known
}

/** It asks for no payment, or says that one was approved that asked for none. */
function isCardCheck(content: CardMessageContent): boolean {
  if (content.kind === 'outcome') return content.asks.every(({ amountCents }) => amountCents === 0n)
  return content.kind === 'authorization' && content.amountCents === 0n
}

/**
 * The machine payment whose token a message names. The first authorization under any reference of the network
 * is that payment; another one would be a second payment, which the token does not allow.
 */
function findMachinePayment(
  content: CardMessageContent,
  rows: readonly AuthorizationRow[],
): AuthorizationRow | undefined {
  if (!('merchant' in content) || content.merchant.networkTokenId === null) return undefined
  const { networkTokenId } = content.merchant
  const begun = rows.find(row => row.mppCredentialId !== null && row.networkTokenId === networkTokenId)
  if (!begun || isCardCheck(content)) return undefined
  const isOther = content.authorizationId !== null && begun.processorRef !== null
  return isOther && begun.processorRef !== content.authorizationId ? undefined : begun
}

/**
 * In thousandths of the price without our margin: what the network’s own rate may charge for it, where it does not
 * state the merchant's amount.
 */
const CONVERTED = { least: 927n, most: 1_073n }

/**
 * How well a report fits a payment; 0 is best. The merchant's amount in its own currency leaves no doubt. More than the
 * payment fits a converted price, too: that the rate has moved is why it is declined.
 */
function fitOf(
  { amountCents: amount, original }: SharedPaymentReport,
  { amountCents, facts: { initiatedOriginal: asked, initiatedMarginPercent: margin } }: AuthorizationRow,
): number | undefined {
  if (original)
    return asked?.amount === original.amount && asked.currency === original.currency ? 0 : undefined
  if (amount === amountCents) return 0
  if (margin === undefined) return undefined
  const scaled = amount * 1_000n * BigInt(Math.round((100 + margin) * 100))
  const price = amountCents * 10_000n
  if (amount < amountCents) return scaled >= price * CONVERTED.least ? 1 : undefined
  return scaled <= price * CONVERTED.most ? 2 : undefined
}

/**
 * The network does not know shared tokens. The first message about one is found by its card and amount; of several
 * alike, it is the oldest that is not over. One that is over may still be reported as paid, and its token may be
 * charged until that has ended: a request after that is another purchase. A reversal or an expiry may have come first,
 * and have made a placeholder.
 */
function withSharedToken<M extends PaymentMessage>(message: M, { authorizations, shared }: CardBatch): M {
  const { content, cardId } = message
  const report = sharedPaymentReport(content)
  const ref = messageProcessorRef(content)
  if (!report || !('merchant' in content)) return message
  const known = [...authorizations].find(({ processorRef }) => processorRef === ref)
  if (known && (!isPlaceholder(known) || known.transactionId !== null)) return message
  const candidates = [...shared].flatMap(([row, { isOver, isEnded }]) => {
    const isGone = isEnded && content.kind === 'authorization'
    if (row.cardId !== cardId || row.processorRef !== null || isGone) return []
    const fit = fitOf(report, row)
    return fit === undefined ? [] : { row, rank: isOver ? fit + 3 : fit }
  })
  const [first] = candidates.toSorted((one, other) => one.rank - other.rank)
  // A decline ends a payment, so it must be certain which.
  if (report.isDecline && (candidates.length !== 1 || first?.rank !== 0)) return message
  const networkTokenId = first?.row.networkTokenId ?? null
  return { ...message, content: { ...content, merchant: { ...content.merchant, networkTokenId } } }
}

/**
 * A reversal or an expiry names no token. If it came before the authorization, it made a placeholder, whose
 * facts belong to the machine payment.
 */
function merge(
  begun: AuthorizationRow,
  known: AuthorizationRow,
  { authorizations, changed }: CardBatch,
): AuthorizationRow {
  if (!isPlaceholder(known) || known.transactionId !== null) return known
  begun.facts = addReversalsAndExpiry(begun.facts, known.facts)
  begun.processorRef = known.processorRef
  authorizations.delete(known)
  changed.newAuthorizations.delete(known)
  changed.authorizations.delete(known)
  changed.merged.add(known)
  return begun
}

const findRefunded = (
  { cardId, merchantKeys, amountCents }: UnlinkedRefund,
  { authorizations, refunds }: CardBatch,
): AuthorizationRow | undefined =>
  [...authorizations].find(
    row =>
      row.cardId === cardId &&
      merchantKeys.includes(row.merchantKey) &&
      row.transactionId !== null &&
      refunds.awaits(row.transactionId, amountCents),
  )

const answerOf = ({ answerStatus, answerHeaders, answerBody }: AnswerMembers): ProcessorAnswer => ({
  status: answerStatus,
  headers: answerHeaders,
  body: answerBody,
})

type AnswerMembers = Pick<CardMessageRow, 'answerStatus' | 'answerHeaders' | 'answerBody'>

function answerMembers(message: IncomingMessage, reply: CardReply): AnswerMembers {
  const { status, headers, body } = message.answer(reply)
  return { answerStatus: status, answerHeaders: { ...headers }, answerBody: body }
}

function storedMembers(message: IncomingMessage, reply: CardReply) {
  const { id, agentId, cardId, digest, content } = message
  const kind: string = content.kind
  return { id, agentId, cardId, digest, kind, ...answerMembers(message, reply) }
}

function store(
  message: IncomingMessage,
  reply: CardReply,
  authorizationId: string | null,
  { tenant, now, messages, changed }: CardBatch,
  credit?: Pick<CardMessageRow, 'id' | 'kind'>,
): ProcessorAnswer {
  const members = { ...storedMembers(message, reply), ...credit, authorizationId }
  const row: CardMessageRow = { ...tenant, ...members, createdAt: now, updatedAt: now }
  messages.set(row.id, row)
  changed.newMessages.push(row)
  return answerOf(row)
}
