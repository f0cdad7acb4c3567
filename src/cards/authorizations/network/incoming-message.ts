import type { IntentSearch } from '../../../control/intents/index.ts'
import { nameOfDescriptor, payableKeys } from '../../../control/merchants/index.ts'
import type { PaymentFact } from '../../../control/payments/index.ts'
import type {
  AuthorizationRequest,
  CardFact,
  CardMerchant,
  CardMessage,
  CardReply,
  MessageContent,
  ProcessorAnswer,
} from '../../../ports/card-processor.ts'
import { type Cents, sumOf } from '../../../values/money.ts'
import type { AuthorizationRow } from '../authorization.ts'
import type { UnnamedRefund } from '../authorization-rows.ts'
import type { CardBatchQuery } from '../batch.ts'

export interface IncomingMessage<C extends MessageContent = MessageContent> extends CardMessage {
  readonly content: C
  readonly digest: string
  readonly agentId: string
  readonly cardId: string
  readonly numberId: string
  readonly search: IntentSearch | undefined
  /** The network was answered with a decline because the decision came too late: the approval is withdrawn. */
  readonly isLate: boolean
  readonly answer: (reply: CardReply) => ProcessorAnswer
}

export type PaymentMessage = IncomingMessage<AuthorizationRequest> | IncomingMessage<CardFact>

export type CardRequest = Pick<
  IncomingMessage<AuthorizationRequest>,
  'content' | 'agentId' | 'cardId' | 'numberId' | 'search' | 'isLate'
> & {
  readonly existing: AuthorizationRow | undefined
  readonly intentId?: string
}

export const firstRequest = (
  request: Pick<AuthorizationRequest, 'amountCents' | 'partialAllowed' | 'merchant'>,
): AuthorizationRequest => ({ kind: 'authorization', authorizationId: '', ask: 0, ...request })

export const isRequest = (
  message: IncomingMessage | PaymentMessage,
): message is IncomingMessage<AuthorizationRequest> => message.content.kind === 'authorization'

export function processorRefOf(content: MessageContent): string | null {
  if (content.kind === 'clearing') return content.authorizationId ?? `clearing/${content.clearingId}`
  if (content.kind === 'refund') return content.authorizationId ?? `refund/${content.refundId}`
  return 'authorizationId' in content ? content.authorizationId : null
}

const merchantOf = (content: MessageContent): CardMerchant | undefined =>
  'merchant' in content ? content.merchant : undefined

function firstAmountOf(content: MessageContent): Cents | undefined {
  if (content.kind === 'clearing') return content.amountCents
  if (content.kind === 'authorization') return content.ask === 0 ? content.amountCents : undefined
  if (content.kind !== 'outcome' || !content.asks.some(({ approved }) => approved)) return undefined
  return sumOf(content.asks.filter(({ approved }) => approved).map(({ amountCents }) => amountCents))
}

export function searchOf(
  content: MessageContent,
  { agentId, cardId }: Pick<IncomingMessage, 'agentId' | 'cardId'>,
): IntentSearch | undefined {
  const amountCents = firstAmountOf(content)
  const merchant = merchantOf(content)
  if (amountCents === undefined || !merchant) return undefined
  return { agentId, cardId, merchantKeys: payableKeys(merchant), amountCents }
}

/** One id for a credit that names no payment, whichever messages report it; null for any other message. */
export const creditIdOf = (content: MessageContent): string | null =>
  content.kind === 'refund' && content.authorizationId === null ? `refund/${content.refundId}` : null

export function unnamedRefundOf({ content, cardId }: IncomingMessage): UnnamedRefund | undefined {
  if (content.kind !== 'refund' || content.authorizationId !== null) return undefined
  const { merchant, amountCents } = content
  return { cardId, merchantKeys: payableKeys(merchant), amountCents }
}

export function queryOf(messages: readonly PaymentMessage[]): CardBatchQuery {
  const contents = messages.map(({ content }) => content)
  return {
    agentIds: messages.map(({ agentId }) => agentId),
    cardIds: messages.map(({ cardId }) => cardId),
    numberIds: messages.map(({ numberId }) => numberId),
    messageIds: messages.flatMap(({ id, content }) => [id, creditIdOf(content) ?? []].flat()),
    processorRefs: contents.flatMap(content => processorRefOf(content) ?? []),
    searches: messages.flatMap(({ search }) => search ?? []),
    spends: messages.flatMap(({ agentId, content }) =>
      content.kind === 'authorization'
        ? { agentId, merchant: nameOfDescriptor(content.merchant.descriptor) }
        : [],
    ),
    tokenIds: contents.flatMap(content => merchantOf(content)?.networkTokenId ?? []),
    unnamedRefunds: messages.flatMap(message => unnamedRefundOf(message) ?? []),
    hasRefunds: contents.some(({ kind }) => kind === 'refund'),
    movesMoney: contents.some(({ kind }) => kind !== 'authorization'),
  }
}

export const requestFact = (
  { ask, amountCents }: AuthorizationRequest,
  approvedCents: Cents = amountCents,
): PaymentFact => ({ type: 'authorized', increment: ask, requestedCents: amountCents, approvedCents })

export function factOf({ id: messageId, content }: IncomingMessage<CardFact>): PaymentFact {
  switch (content.kind) {
    case 'reversal':
      return { type: 'reversed', id: messageId, cents: content.amountCents }
    case 'expiry':
      return { type: 'expired' }
    case 'clearing': {
      const { clearingId: id, amountCents: cents, final, authorizationId } = content
      return { type: 'cleared', id, cents, final: final || authorizationId === null }
    }
    case 'refund':
      return { type: 'refunded', id: content.refundId, cents: content.amountCents }
    case 'outcome':
      return {
        type: 'answered',
        answers: content.asks.map(({ amountCents: cents, approved }) => ({ cents, approved })),
      }
  }
}
