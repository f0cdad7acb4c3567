import type { AgentEvent } from '../../../control/agents/index.ts'
import { evidenceOf } from '../../../control/payments/index.ts'
import type { riskEvents } from '../../../control/risk/index.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { AuthorizationRequest, CardReply } from '../../../ports/card-processor.ts'
import { newId } from '../../../values/ids.ts'
import { excerpt } from '../../../values/schemas.ts'
import { type Answered, answerRequest, type Request, replyOf, requestFact } from '../answer-request.ts'
import { applyCardFact } from '../apply-fact.ts'
import type { AuthorizationRow } from '../authorization-rows.ts'
import type { CardBatch } from '../batch.ts'
import { blankAuthorization, isUnplaced, place } from '../blank-authorization.ts'
import type { IncomingMessage } from './incoming-message.ts'
import type { FactContext } from './take-fact.ts'
import { tellOfToken } from './token-events.ts'

export type TakeContext = FactContext &
  Pick<Context<never, typeof riskEvents & { 'agent.frozen': typeof AgentEvent }>, 'emit'>

/** Answers a request of the network, and stores what it leads to. */
export function takeRequest(
  incoming: IncomingMessage,
  request: Request,
  batch: CardBatch,
  context: TakeContext,
): CardReply {
  const { content, existing } = request
  const known = existing?.facts.asks.find(({ ask }) => ask === content.ask)
  if (existing && known) return repeatedReply(existing, known)
  const spender = batch.agents.get(incoming.agentId)
  if (!spender) return { kind: 'declined', reason: 'There is no such card.' }
  const id = existing?.id ?? newId('cardauth')
  const answered = answerRequest(request, spender, batch, id)
  const row = existing ?? addAuthorization(incoming, request, answered, batch, id)
  if (existing && isUnplaced(existing)) place(existing, content.merchant, answered)
  batch.changed.decisions.push(answered.decided.row)
  for (const [event, data] of batch.riskAssessor.applyOutcome(spender, {
    type: 'card_authorization',
    id,
    decision: answered.decision,
    amountEuros: content.amountEuros,
    merchant: row.merchant,
    country: content.merchant.country,
  }))
    context.emit(event, data)
  learn(answered, row, batch)
  describe(row, content, answered, incoming.cardId)
  const { approvedEuros } = answered
  const before = row.facts
  const messageId = incoming.message.id
  const evidence = evidenceOf('card_authorization', messageId, id, messageId)
  applyCardFact(row, requestFact(content, approvedEuros), evidence, batch, context)
  tellOfToken(row, before, batch, context)
  if (approvedEuros > 0n && batch.singleUse.has(incoming.cardId)) batch.used.set(incoming.cardId, row.id)
  return replyOf(answered, content.amountEuros)
}

/** Another message about a request that has been answered gets the same answer. */
const repeatedReply = (
  { declineReason, decision }: AuthorizationRow,
  { asked, approved }: { readonly asked: string; readonly approved: string },
): CardReply =>
  approved !== '0' || (asked === '0' && decision?.allowed)
    ? { kind: 'approved', approvedEuros: BigInt(approved), askedEuros: BigInt(asked) }
    : { kind: 'declined', reason: excerpt(declineReason ?? 'It has been declined before.') }

function addAuthorization(
  incoming: IncomingMessage,
  { content }: Request,
  answered: Answered,
  batch: CardBatch,
  id: string,
): AuthorizationRow {
  const { agentId, cardId } = incoming
  const { descriptor, mcc, country } = content.merchant
  const named = { agentId, cardId, processorRef: content.authorizationId, descriptor, mcc, country }
  const row = blankAuthorization(named, answered, batch, id)
  batch.authorizations.add(row)
  batch.changed.newAuthorizations.add(row)
  return row
}

/** What an intent covers was learnt with its approval. */
function learn({ approvedEuros, intent }: Answered, row: AuthorizationRow, batch: CardBatch): void {
  if (approvedEuros === 0n || intent) return
  const { merchant, country } = row
  batch.riskAssessor.learn(row.agentId, { amountEuros: approvedEuros, merchant, country }, batch.now)
}

/** The request tells more of the payment than facts that came before it. */
function describe(
  row: AuthorizationRow,
  content: AuthorizationRequest,
  { decision }: Answered,
  cardId: string,
): void {
  const { descriptor, mcc, country } = content.merchant
  const networkTokenId = content.merchant.networkTokenId ?? row.networkTokenId
  const isFirst = content.ask === 0
  if (isFirst) Object.assign(row, { descriptor, mcc, country, networkTokenId, decision })
  row.cardId ??= cardId
  row.processorRef ??= content.authorizationId
  if (!decision.allowed && row.facts.asks.every(({ approved }) => approved === '0'))
    row.declineReason = decision.reason
  if (decision.allowed) row.declineReason = null
}
