import type { PayableIntentSearch } from '../../control/intents/index.ts'
import { merchantNameOfDescriptor, payableBy, refundableKeys } from '../../control/merchants/index.ts'
import { evolve, type PaymentChange, type PaymentFact, unknownPayment } from '../../control/payments/index.ts'
import type { Conversion } from '../../money/exchange-rates/index.ts'
import type {
  AuthorizationRequest,
  CardFact,
  CardMerchant,
  CardMessage,
  CardMessageContent,
  CardReply,
  ProcessorAnswer,
} from '../../ports/card-processor.ts'
import { type Cents, NO_CENTS, sumOf } from '../../values/money.ts'
import type { OriginalAmount } from '../../values/original-amount.ts'
import type { AuthorizationRow } from './authorization.ts'
import type { UnlinkedRefund } from './authorization-rows.ts'
import type { CardBatchQuery } from './batch.ts'

export interface IncomingMessage<C extends CardMessageContent = CardMessageContent> extends CardMessage {
  readonly content: C
  readonly digest: string
  readonly agentId: string
  readonly cardId: string
  readonly numberId: string
  readonly search: PayableIntentSearch | undefined
  /**
   * Called as it is decided. True if it has been answered as declined by then; otherwise the answer waits for the
   * commit of this decision.
   */
  readonly isTooLate: () => boolean
  readonly answer: (reply: CardReply) => ProcessorAnswer
}

export type PaymentMessage = IncomingMessage<AuthorizationRequest> | IncomingMessage<CardFact>

type RequestToDecide = Pick<
  IncomingMessage<AuthorizationRequest>,
  'content' | 'agentId' | 'cardId' | 'numberId' | 'search'
> & {
  readonly isLate: boolean
  readonly existing: AuthorizationRow | undefined
  readonly intentId?: string
  readonly conversion?: Conversion | null
}

export interface CardAuthorizationRequest extends RequestToDecide {
  /** What the payment becomes if the whole amount is approved. */
  readonly change: PaymentChange
}

export const authorizationRequest = (request: RequestToDecide): CardAuthorizationRequest => ({
  ...request,
  change: evolve(request.existing ?? unknownPayment, authorizedFact(request.content)),
})

export const initialAuthorizationRequest = (
  request: Pick<AuthorizationRequest, 'amountCents' | 'partialAllowed' | 'merchant'>,
): AuthorizationRequest => ({ kind: 'authorization', authorizationId: '', ask: 0, ...request })

export const isAuthorizationRequest = (
  message: IncomingMessage | PaymentMessage,
): message is IncomingMessage<AuthorizationRequest> => message.content.kind === 'authorization'

export function messageProcessorRef(content: CardMessageContent): string | null {
  if (content.kind === 'clearing') return content.authorizationId ?? `clearing/${content.clearingId}`
  if (content.kind === 'refund') return content.authorizationId ?? `refund/${content.refundId}`
  return 'authorizationId' in content ? content.authorizationId : null
}

const merchantOf = (content: CardMessageContent): CardMerchant | undefined =>
  'merchant' in content ? content.merchant : undefined

function firstAmountOf(content: CardMessageContent): Cents | undefined {
  if (content.kind === 'clearing') return content.amountCents
  if (content.kind === 'authorization') return content.ask === 0 ? content.amountCents : undefined
  if (content.kind !== 'outcome' || !content.asks.some(({ approved }) => approved)) return undefined
  return sumOf(content.asks.filter(({ approved }) => approved).map(({ amountCents }) => amountCents))
}

export function intentSearchFor(
  content: CardMessageContent,
  { agentId, cardId }: Pick<IncomingMessage, 'agentId' | 'cardId'>,
): PayableIntentSearch | undefined {
  const amountCents = firstAmountOf(content)
  const merchant = merchantOf(content)
  if (amountCents === undefined || !merchant) return undefined
  return { agentId, cardId, ...payableBy(merchant), amountCents }
}

/** What may be the first message about a payment by a shared token, which the network does not name. */
export interface SharedPaymentReport {
  readonly amountCents: Cents
  readonly original: OriginalAmount | undefined
  /** The network or the processor has declined it, without asking. */
  readonly isDecline: boolean
}

export function sharedPaymentReport(content: CardMessageContent): SharedPaymentReport | undefined {
  if (merchantOf(content)?.networkTokenId !== null) return undefined
  const [first] = content.kind === 'outcome' ? content.asks : []
  const approvedCents = firstAmountOf(content)
  const amountCents = approvedCents ?? first?.amountCents ?? NO_CENTS
  if (amountCents === 0n) return undefined
  const original = 'original' in content ? content.original : first?.original
  return { amountCents, original, isDecline: approvedCents === undefined }
}

/** One id for a credit that names no payment, whichever messages report it; null for any other message. */
export const unlinkedRefundId = (content: CardMessageContent): string | null =>
  content.kind === 'refund' && content.authorizationId === null ? `refund/${content.refundId}` : null

export function unlinkedRefundIn({ content, cardId }: IncomingMessage): UnlinkedRefund | undefined {
  if (content.kind !== 'refund' || content.authorizationId !== null) return undefined
  const { merchant, amountCents } = content
  return { cardId, merchantKeys: refundableKeys(merchant), amountCents }
}

export function cardBatchQueryFor(messages: readonly PaymentMessage[]): CardBatchQuery {
  const contents = messages.map(({ content }) => content)
  return {
    agentIds: messages.map(({ agentId }) => agentId),
    cardIds: messages.map(({ cardId }) => cardId),
    numberIds: messages.map(({ numberId }) => numberId),
    messageIds: messages.flatMap(({ id, content }) => [id, unlinkedRefundId(content) ?? []].flat()),
    processorRefs: contents.flatMap(content => messageProcessorRef(content) ?? []),
    searches: messages.flatMap(({ search }) => search ?? []),
    spends: messages.flatMap(({ agentId, content }) =>
      content.kind === 'authorization'
        ? { agentId, merchant: merchantNameOfDescriptor(content.merchant.descriptor) }
        : [],
    ),
    tokenIds: contents.flatMap(content => merchantOf(content)?.networkTokenId ?? []),
    sharedTokenCardIds: messages.flatMap(({ cardId, content }) =>
      sharedPaymentReport(content) === undefined ? [] : cardId,
    ),
    unnamedRefunds: messages.flatMap(message => unlinkedRefundIn(message) ?? []),
    hasRefunds: contents.some(({ kind }) => kind === 'refund'),
    movesMoney: contents.some(({ kind }) => kind !== 'authorization'),
  }
}

export const authorizedFact = (
  { ask, amountCents, original }: AuthorizationRequest,
  approvedCents: Cents = amountCents,
): PaymentFact => ({
  type: 'authorized',
  increment: ask,
  requestedCents: amountCents,
  approvedCents,
  original,
})

export function paymentFactFromMessage({ id: messageId, content }: IncomingMessage<CardFact>): PaymentFact {
  switch (content.kind) {
    case 'reversal':
      return { type: 'reversed', id: messageId, cents: content.amountCents }
    case 'expiry':
      return { type: 'expired' }
    case 'clearing': {
      const { clearingId: id, amountCents: cents, final, authorizationId, original } = content
      return { type: 'cleared', id, cents, final: final || authorizationId === null, original }
    }
    case 'refund':
      return {
        type: 'refunded',
        id: content.refundId,
        cents: content.amountCents,
        original: content.original,
      }
    case 'outcome':
      return {
        type: 'answered',
        answers: content.asks.map(({ amountCents: cents, approved, original }) => ({
          cents,
          approved,
          original,
        })),
      }
  }
}
