import type { IntentSearch } from '../../../control/intents/index.ts'
import { nameOfDescriptor, payableKeys } from '../../../control/merchants/index.ts'
import type { CardMerchant, MessageContent } from '../../../ports/card-processor.ts'
import type { Euros } from '../../../values/money.ts'
import type { UnnamedRefund } from '../authorization-rows.ts'
import type { BatchNeeds } from '../batch.ts'
import type { IncomingMessage } from './incoming-message.ts'

/** The processor's id of the payment that a message speaks of; null for news about the card itself. */
export function processorRefOf(content: MessageContent): string | null {
  if (content.kind === 'clearing') return content.authorizationId ?? `clearing/${content.clearingId}`
  if (content.kind === 'refund') return content.authorizationId ?? `refund/${content.refundId}`
  return 'authorizationId' in content ? content.authorizationId : null
}

const merchantOf = (content: MessageContent): CardMerchant | undefined =>
  'merchant' in content ? content.merchant : undefined

/** The amount of a payment of which a message may be the first word; undefined where it is about an older one. */
function firstAmountOf(content: MessageContent): Euros | undefined {
  if (content.kind === 'clearing') return content.amountEuros
  if (content.kind === 'authorization') return content.ask === 0 ? content.amountEuros : undefined
  if (content.kind !== 'outcome' || !content.asks.some(({ approved }) => approved)) return undefined
  return content.asks.reduce((sum, { approved, amountEuros }) => (approved ? sum + amountEuros : sum), 0n)
}

/** The intents that may cover the payment of a message: of a first request, and of a clearing or an approval without one. */
export function searchOf({ message, agentId, cardId }: IncomingMessage): IntentSearch | undefined {
  const amountEuros = firstAmountOf(message.content)
  const merchant = merchantOf(message.content)
  if (amountEuros === undefined || !merchant) return undefined
  return { agentId, cardId, merchantKeys: payableKeys(merchant), amountEuros }
}

/** The name under which it is kept that a credit has come, whatever messages tell of it; null where it names its payment. */
export const creditIdOf = (content: MessageContent): string | null =>
  content.kind === 'refund' && content.authorizationId === null ? `refund/${content.refundId}` : null

/** What a credit without a payment may have been asked for by. */
export function unnamedRefundOf({
  message: { content },
  cardId,
}: IncomingMessage): UnnamedRefund | undefined {
  if (content.kind !== 'refund' || content.authorizationId !== null) return undefined
  const { merchant, amountEuros } = content
  return { cardId, merchantKeys: payableKeys(merchant), amountEuros }
}

/** What a batch of messages must load. */
export function needsOf(
  messages: readonly IncomingMessage[],
  searches: readonly (IntentSearch | undefined)[],
): BatchNeeds {
  const contents = messages.map(({ message }) => message.content)
  return {
    agentIds: messages.map(({ agentId }) => agentId),
    cardIds: messages.map(({ cardId }) => cardId),
    numberIds: messages.map(({ numberId }) => numberId),
    messageIds: messages.flatMap(({ message: { id, content } }) => [id, creditIdOf(content) ?? []].flat()),
    processorRefs: contents.flatMap(content => processorRefOf(content) ?? []),
    authorizationIds: [],
    intentIds: [],
    searches: searches.filter(search => search !== undefined),
    spends: messages.flatMap(({ agentId, message: { content } }) =>
      content.kind === 'authorization'
        ? { agentId, merchant: nameOfDescriptor(content.merchant.descriptor) }
        : [],
    ),
    tokenIds: contents.flatMap(content => merchantOf(content)?.networkTokenId ?? []),
    unnamedRefunds: messages.flatMap(message => unnamedRefundOf(message) ?? []),
    takesRefunds: contents.some(({ kind }) => kind === 'refund'),
    movesMoney: contents.some(({ kind }) => kind !== 'authorization'),
  }
}
