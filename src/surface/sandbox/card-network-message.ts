import { AgentCredential } from '../../cards/agent-credentials/index.ts'
import { CardAuthorization } from '../../cards/authorizations/index.ts'
import { Card, CardNumber } from '../../cards/cards/index.ts'
import { paymentState } from '../../control/payments/index.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import {
  type AnsweredRequest,
  type CardMessage,
  type CardMessageContent,
  declineOutcome,
  type SignedCardMessage,
} from '../../ports/card-processor.ts'
import { newId } from '../../values/ids.ts'
import { NO_CENTS } from '../../values/money.ts'
import type { cardNetworkApi } from './card-network-api.ts'

export type SandboxNetworkContext = ContextOf<typeof cardNetworkApi.authorizeCard>

export interface NetworkMessageInput {
  readonly messageId?: string | undefined
  readonly sentAt?: Date | undefined
  readonly cardId?: string | undefined
  readonly last4?: string | undefined
  readonly authorizationId?: string | undefined
  readonly agentCredentialId?: string | undefined
  readonly networkTokenId?: string | null | undefined
}

export interface NetworkMessageContext {
  readonly messageId: string
  readonly authorization: CardAuthorization | null
  readonly authorizationId: string | undefined
  /** The processor's id of the network token that pays; null for a payment by the card number. */
  readonly networkTokenId: string | null
}

/** Signed messages, and the ids of their answer. They are plain JSON, which survives a crash. */
export interface SentNetworkMessages {
  readonly signed: readonly SignedCardMessage[]
  /** What the network reports if the answer to the request is late; null for any other message. */
  readonly ifLate: SignedCardMessage | null
  readonly says: Script['says']
  readonly cardId: string
  readonly messageId: string
  readonly lastMessageId: string
  readonly sentAt: string
  readonly kind: CardMessageContent['kind']
  readonly named: Named
}

interface Named {
  readonly authorizationId: string | null
  readonly ask: number | null
  readonly clearingId: string | null
  readonly refundId: string | null
  readonly tokenId: string | null
  readonly disputeId: string | null
  readonly cents: string | null
}

export async function prepareNetworkMessage(
  body: NetworkMessageInput,
  context: SandboxNetworkContext,
  contentOf: (known: NetworkMessageContext) => CardMessageContent | Refusal,
): Promise<SentNetworkMessages | Refusal> {
  const { tenant, now, systems, refuse } = context
  if (tenant.mode !== 'test') return refuse('test_mode_only')
  const { sign } = systems.cardProcessor('test')
  if (!sign) throw new Error('the processor of test mode signs messages')
  const authorization = await findAuthorization(body, context)
  const number = await findNumber(body, authorization, context)
  if (number instanceof Refusal) return number
  const networkTokenId = await findToken(body, authorization, context)
  if (networkTokenId instanceof Refusal) return networkTokenId
  const { messageId = newId('networkmessage'), sentAt = now } = body
  const authorizationId = authorization?.processorRef ?? body.authorizationId
  const content = contentOf({ messageId, authorization, authorizationId, networkTokenId })
  if (content instanceof Refusal) return content
  const { cardId, processorCardId } = number
  const script = scriptOf(content)
  const message = { id: messageId, processorCardId, sentAt, content }
  const messages = messagesOf(message, script)
  const ifLate = lateOutcome(message, authorization)
  return {
    signed: messages.map(sign),
    ifLate: ifLate && sign(ifLate),
    says: script.says,
    cardId,
    messageId,
    lastMessageId: messages.at(-1)?.id ?? messageId,
    sentAt: sentAt.toISOString(),
    kind: content.kind,
    named: namedIn(content),
  }
}

async function findAuthorization(
  { authorizationId: id }: NetworkMessageInput,
  { em }: SandboxNetworkContext,
) {
  if (id === undefined) return null
  const named = await em.findOne(CardAuthorization, { processorRef: id })
  return named ?? em.findOne(CardAuthorization, { id })
}

async function findNumber(
  { cardId, last4 }: NetworkMessageInput,
  authorization: CardAuthorization | null,
  { em, refuse }: SandboxNetworkContext,
): Promise<CardNumber | Refusal> {
  const id = cardId ?? authorization?.cardId
  if (id === undefined) return refuse('card_unnamed')
  const [card, numbers] = await Promise.all([
    em.findOne(Card, { id }),
    em.find(CardNumber, { cardId: id }, { orderBy: { id: 'desc' } }),
  ])
  if (!card) return refuse('card_not_found')
  const wanted = numbers.find(number =>
    last4 === undefined ? number.id === card.numberId : number.last4 === last4,
  )
  return wanted ?? refuse(last4 === undefined ? 'card_not_issued' : 'number_not_found')
}

async function findToken(
  { agentCredentialId: id, networkTokenId }: NetworkMessageInput,
  authorization: CardAuthorization | null,
  { em, refuse }: SandboxNetworkContext,
): Promise<string | null | Refusal> {
  if (id === undefined) return networkTokenId ?? authorization?.networkTokenId ?? null
  if (networkTokenId) return refuse('token_named_twice')
  const credential = await em.findOne(AgentCredential, { id })
  if (!credential) return refuse('agent_credential_not_found')
  return credential.tokenId ?? refuse('token_not_issued')
}

/** Reads the ids and the amount of a message. The answer repeats them, so that the message can be sent again. */
function namedIn(content: CardMessageContent): Named {
  const {
    authorizationId = null,
    ask = null,
    clearingId = null,
    refundId = null,
    tokenId = null,
    disputeId = null,
  } = content as Partial<Named>
  const amountCents = 'amountCents' in content ? content.amountCents : null
  return {
    authorizationId,
    ask,
    clearingId,
    refundId,
    tokenId,
    disputeId,
    cents: amountCents?.toString() ?? null,
  }
}

interface Script {
  readonly asks: number
  /** The processor's own answer to the network, which overrides the service's; null if the processor passes that on. */
  readonly says: 'approved' | 'declined' | null
}

const ONE_REQUEST: Script = { asks: 1, says: null }

const scripts: ReadonlyMap<bigint, Script> = new Map([
  [91_01n, { asks: 0, says: 'approved' }],
  [91_02n, { asks: 1, says: 'declined' }],
  [91_03n, { asks: 2, says: null }],
])

const scriptOf = (content: CardMessageContent): Script =>
  content.kind === 'authorization' && content.ask === 0
    ? (scripts.get(content.amountCents) ?? ONE_REQUEST)
    : ONE_REQUEST

function messagesOf(message: CardMessage, { asks, says }: Script): CardMessage[] {
  const requests = Array.from({ length: asks }, () => message)
  const { id, content } = message
  if (says === null || content.kind !== 'authorization') return requests
  const { authorizationId, amountCents, merchant, original } = content
  const word = { amountCents, approved: says === 'approved', original }
  const outcome = { kind: 'outcome' as const, authorizationId, asks: [word], merchant }
  return [...requests, { ...message, id: outcomeId(id), content: outcome }]
}

const outcomeId = (requestId: string): string => `${requestId}:outcome`

function lateOutcome(message: CardMessage, authorization: CardAuthorization | null): CardMessage | null {
  const { id, content } = message
  if (content.kind !== 'authorization') return null
  const earlier = earlierAnswers(content.ask, authorization)
  return { ...message, id: outcomeId(id), content: declineOutcome(content, earlier) }
}

function earlierAnswers(ask: number, authorization: CardAuthorization | null): AnsweredRequest[] {
  const approvals = authorization ? paymentState(authorization.facts).approvals : []
  return Array.from({ length: ask }, (_, earlier) => {
    const found = approvals.find(({ increment }) => increment === earlier)
    const amountCents = found?.approvedCents ?? NO_CENTS
    return { amountCents, approved: amountCents > 0n, original: found?.original }
  })
}
