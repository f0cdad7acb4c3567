import { AgentEvent } from '../../control/agents/index.ts'
import { cardBudgets, cardControlsFromTerms, compileStoredCardTerms } from '../../control/card-terms/index.ts'
import { type DecisionRow, type DecisionSummary, summarizeDecision } from '../../control/decisions/index.ts'
import type { IntentRow } from '../../control/intents/index.ts'
import { acceptorNames, merchantNameOfDescriptor } from '../../control/merchants/index.ts'
import {
  type AuthRequest,
  decodeAuthRequests,
  isPaymentOf,
  messageEvidence,
} from '../../control/payments/index.ts'
import {
  decideSpend,
  type PolicyDecision,
  type SpendDecision,
  type SpendingAgent,
} from '../../control/policies/index.ts'
import { riskEvents } from '../../control/risk/index.ts'
import type { EmitContext } from '../../kernel/contract/context.ts'
import type { AuthorizationRequest, CardReply } from '../../ports/card-processor.ts'
import { newId } from '../../values/ids.ts'
import { addCents, type Cents, NO_CENTS, remainderOf, subtractCents } from '../../values/money.ts'
import { truncateText } from '../../values/schemas.ts'
import {
  type AuthorizationRow,
  addAuthorization,
  type FundingSource,
  fillPlaceholderAuthorization,
  isAwaited,
  isPlaceholder,
} from './authorization.ts'
import type { CardBatch, CardDecisionState } from './batch.ts'
import { authorizationBlocker, LATE_REPLY } from './card-checks.ts'
import { type NetworkContext, networkPayments } from './channel.ts'
import {
  authorizationRequest,
  authorizedFact,
  type CardAuthorizationRequest,
  type IncomingMessage,
} from './incoming-message.ts'

interface AuthorizationResponse extends FundingSource {
  readonly approvedCents: Cents
  readonly decision: PolicyDecision
  /** All of a decision that a check of the card has changed, as the stored one is that of the rules. */
  readonly decisionSummary: DecisionSummary
  readonly decisionRow: DecisionRow
}

export const authorizationDecisionEvents = { ...riskEvents, 'agent.frozen': AgentEvent }

export interface AuthorizationResult {
  readonly reply: CardReply
  readonly authorizationId: string | null
}

type RequestMessage = IncomingMessage<AuthorizationRequest> & { readonly isLate: boolean }

export function authorizeCardPayment(
  message: RequestMessage,
  found: AuthorizationRow | undefined,
  batch: CardBatch,
  context: NetworkContext & EmitContext<typeof authorizationDecisionEvents>,
): AuthorizationResult {
  const { content, agentId, cardId } = message
  const known = found && decodeAuthRequests(found.facts).find(({ increment }) => increment === content.ask)
  if (found && known) return { reply: repeatedReply(found, known), authorizationId: found.id }
  const spender = batch.agents.get(agentId)
  if (!spender)
    return {
      reply: { kind: 'declined', reason: 'There is no such card.' },
      authorizationId: found?.id ?? null,
    }
  const { id, existing, response } = decideRequest(message, found, spender, batch)
  const { decision, decisionSummary, approvedCents } = response
  const { descriptor, mcc, country, networkTokenId } = content.merchant
  const named = { agentId, cardId, processorRef: content.authorizationId, descriptor, mcc, country }
  const authorization = existing ?? addAuthorization(named, response, batch, id)
  if (existing && isPlaceholder(existing)) fillPlaceholderAuthorization(existing, content.merchant, response)
  const { merchant, facts } = authorization
  recordCardDecision(response, spender, { ...content, id, merchant, country }, batch, context)
  learn(response, authorization, batch)
  // The request contains more about the payment than earlier facts.
  if (content.ask === 0) Object.assign(authorization, { descriptor, mcc, country, decision, decisionSummary })
  if (content.ask === 0 && networkTokenId) authorization.networkTokenId = networkTokenId
  authorization.cardId ??= cardId
  authorization.processorRef ??= content.authorizationId
  if (decision.allowed) authorization.declineReason = null
  else if (decodeAuthRequests(facts).every(({ approvedCents }) => approvedCents === 0n))
    authorization.declineReason = decision.reason
  const evidence = messageEvidence('card_authorization', message.id, id, message.id)
  networkPayments(batch, context).apply(authorization, authorizedFact(content, approvedCents), evidence)
  if (approvedCents > 0n && batch.singleUse.has(cardId)) batch.used.set(cardId, id)
  const reply = message.isLate ? LATE_REPLY : replyOf(response, content.amountCents)
  return { reply, authorizationId: id }
}

/**
 * A confirmed checkout awaits a payment that is approved. A declined request is a payment of its own, since the merchant
 * may repeat it under another id.
 */
function decideRequest(
  message: RequestMessage,
  found: AuthorizationRow | undefined,
  spender: SpendingAgent,
  batch: CardBatch,
) {
  const id = found?.id ?? newId('cardauth')
  const request = authorizationRequest({ ...message, existing: found })
  const response = decideAuthorization(request, spender, batch, id)
  if (!found || response.decision.allowed || !isAwaited(found)) return { id, existing: found, response }
  const ownId = newId('cardauth')
  const decisionRow = { ...response.decisionRow, subjectId: ownId }
  return { id: ownId, existing: undefined, response: { ...response, decisionRow } }
}

const repeatedReply = (
  { declineReason, decision }: AuthorizationRow,
  { requestedCents, approvedCents }: AuthRequest,
): CardReply =>
  approvedCents > 0n || (requestedCents === 0n && decision?.allowed)
    ? { kind: 'approved', approvedCents, askedCents: requestedCents }
    : { kind: 'declined', reason: truncateText(declineReason ?? 'The payment was declined before.') }

function replyOf({ approvedCents, decision }: AuthorizationResponse, askedCents: Cents): CardReply {
  if (decision.allowed) return { kind: 'approved', approvedCents, askedCents }
  return { kind: 'declined', reason: truncateText(decision.reason) }
}

interface DecidedPayment {
  readonly id: string
  readonly amountCents: Cents
  readonly merchant: string
  readonly country: string | null
}

export function recordCardDecision(
  { decision, decisionRow }: AuthorizationResponse,
  spender: SpendingAgent,
  { id, amountCents, merchant, country }: DecidedPayment,
  batch: CardBatch,
  { emit }: EmitContext<typeof authorizationDecisionEvents>,
): void {
  batch.changed.decisions.push(decisionRow)
  const subject = { type: 'card_authorization', id, decision, amountCents, merchant, country }
  for (const [event, data] of batch.riskAssessor.applyOutcome(spender, subject)) emit(event, data)
}

/** The merchants of payments that an intent covers were already learned when the intent was approved. */
function learn(
  { approvedCents, intent }: AuthorizationResponse,
  { agentId, merchant, country }: AuthorizationRow,
  { riskAssessor, now }: CardBatch,
): void {
  if (approvedCents > 0n && !intent)
    riskAssessor.learn(agentId, { amountCents: approvedCents, merchant, country }, now)
}

export function decideAuthorization(
  request: CardAuthorizationRequest,
  spender: SpendingAgent,
  batch: CardDecisionState,
  id: string,
): AuthorizationResponse {
  const { content, existing, numberId } = request
  const { book, cards } = batch
  const intent = findCover(request, batch)
  const purse = cards.get(numberId)?.walletId ?? null
  const walletId = intent ? spender.walletId : (existing?.walletId ?? purse ?? spender.walletId)
  const isPurse = purse !== null && walletId === purse
  const needed = neededCents(request)
  const available = book.available(walletId)
  const isPart = content.partialAllowed && !intent && available > 0n && available < needed
  const amountCents = isPart ? available : content.amountCents
  const decided = decideAmount(request, spender, batch, { id, amountCents, needed, intent, walletId })
  const blocker = authorizationBlocker(request, intent, batch)
  const decision = blocker ? blockedDecision(decided.decision, blocker) : decided.decision
  return {
    approvedCents: decision.allowed ? amountCents : NO_CENTS,
    decision,
    decisionSummary: blocker ? decision : summarizeDecision(decision),
    decisionRow: decided.row,
    intent,
    source: intent ? 'intent' : isPurse ? 'purse' : 'wallet',
    walletId,
  }
}

function findCover(
  { existing, change, search, intentId }: CardAuthorizationRequest,
  batch: CardDecisionState,
): IntentRow | undefined {
  const { payments, candidates } = batch
  if (existing && !isPlaceholder(existing)) {
    const intent = existing.source === 'intent' ? payments.find(existing.intentId) : undefined
    // After a decline, the intent may have ended, or another payment may have taken it.
    if (!intent || !(isPaymentOf(intent, existing) || payments.blockerOf(intent) === undefined))
      return undefined
    return change.after.approvedCents <= (intent.holdCents ?? NO_CENTS) ? intent : undefined
  }
  const ids = intentId === undefined ? search && candidates.get(search) : [intentId]
  return firstPayableIntent(ids, batch)
}

export const firstPayableIntent = (
  intentIds: readonly string[] = [],
  { payments }: Pick<CardDecisionState, 'payments'>,
): IntentRow | undefined =>
  intentIds
    .map(id => payments.find(id))
    .find(intent => intent !== undefined && payments.blockerOf(intent) === undefined)

/** The amount to hold above the current hold; less if facts came first. */
const neededCents = ({ change: { before, after } }: CardAuthorizationRequest): Cents =>
  subtractCents(after.heldCents, before.heldCents)

/** A check of the card itself comes first, and the rules cannot override it. */
const blockedDecision = (decision: PolicyDecision, message: string): PolicyDecision => ({
  ...decision,
  allowed: false,
  requiresApproval: false,
  reason: message,
  checks: [
    { rule: 'card', outcome: 'fail', limit: null, used: null, remaining: null, message },
    ...decision.checks,
  ],
})

interface Amounts {
  readonly id: string
  readonly amountCents: Cents
  readonly needed: Cents
  readonly intent: IntentRow | undefined
  readonly walletId: string
}

/** The part of a request that has counted towards its card's limits since the checkout was confirmed. */
const confirmedPart = (
  { existing, change: { before }, cardId }: CardAuthorizationRequest,
  { amountCents, needed }: Amounts,
): Cents =>
  before.confirmedCents !== null && existing?.cardId === cardId ? remainderOf(amountCents, needed) : NO_CENTS

function decideAmount(
  request: CardAuthorizationRequest,
  spender: SpendingAgent,
  batch: CardDecisionState,
  amounts: Amounts,
): SpendDecision {
  const { content, conversion, existing, change, cardId } = request
  const { id, amountCents, needed, intent, walletId } = amounts
  const { book, counters, riskAssessor } = batch
  const { descriptor, url } = content.merchant
  // Details that the network leaves out were judged with the intent.
  const mcc = content.merchant.mcc ?? intent?.mcc ?? null
  const country = content.merchant.country ?? intent?.country ?? null
  const terms = batch.terms.get(cardId)
  // One that was made for an approved intent did not judge it.
  const isNamed = intent !== undefined && intent.cardId === cardId && terms?.intentId !== intent.id
  const name = merchantNameOfDescriptor(descriptor)
  const merchant = intent?.merchant ?? name
  const risk = riskAssessor.assess(
    spender.id,
    { amountCents, merchant, country },
    { isDeclared: intent !== undefined },
  )
  // A machine payment has counted towards its card's limits since it began.
  const confirmed = confirmedPart(request, amounts)
  const isCounted = isNamed || change.before.isSelfInitiated || (confirmed > 0n && confirmed >= amountCents)
  const ofCard = terms && !isCounted ? cardBudgets(terms, counters, confirmed) : []
  const isChecked = !intent && needed > 0n && amountCents > 0n
  return decideSpend(
    spender,
    {
      kind: 'card',
      amountCents,
      paymentCents: existing && addCents(change.before.approvedCents, amountCents),
      merchant,
      alsoNamed: name === merchant ? [] : [name],
      provenNames: [
        ...(intent ? [merchant] : []),
        ...acceptorNames(content.merchant).names,
        ...(url ? [url] : []),
      ],
      payeeIban: null,
      mcc,
      country,
      intentId: intent?.id ?? null,
      possibleDuplicateOf: null,
      budgets: intent ? ofCard : [...counters.ownerBudgets(), ...ofCard],
      risk,
      approval: null,
      walletFrozen: book.isFrozen(walletId),
      availableCents: isChecked ? addCents(book.available(walletId), remainderOf(amountCents, needed)) : null,
      card: terms ? cardControlsFromTerms(terms, isNamed) : null,
      conversion,
    },
    counters.snapshotOf(spender.id, spender.term),
    batch,
    { type: 'card_authorization', id },
    terms ? compileStoredCardTerms(terms, isNamed) : null,
  )
}
