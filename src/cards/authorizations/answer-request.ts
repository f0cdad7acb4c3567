import { cardBudgets, compiledTermsOf, controlsOf } from '../../control/card-terms/index.ts'
import type { IntentRow, IntentSearch } from '../../control/intents/index.ts'
import { nameOfDescriptor } from '../../control/merchants/index.ts'
import {
  addFact,
  foldFacts,
  noFacts,
  type PaymentFact,
  type PaymentFacts,
} from '../../control/payments/index.ts'
import { type Decision, decideSpend, type SpendDecision, type Spender } from '../../control/policies/index.ts'
import type { AuthorizationRequest, CardReply } from '../../ports/card-processor.ts'
import type { Euros } from '../../values/money.ts'
import { excerpt } from '../../values/schemas.ts'
import type { AuthorizationRow } from './authorization-rows.ts'
import type { DecisionState } from './batch.ts'
import { isUnplaced } from './blank-authorization.ts'
import { cardBlocker, isOfOtherIntent, isOrphan, otherIntentWords, TOO_LATE } from './blockers.ts'
import type { IncomingMessage } from './network/incoming-message.ts'

/** A request of the network with everything that its answer goes by. */
export interface Request {
  readonly place: Pick<IncomingMessage, 'agentId' | 'cardId' | 'numberId' | 'isLate'>
  readonly content: AuthorizationRequest
  /** What is known of the payment already: an increment has an authorization, and facts may come first. */
  readonly existing: AuthorizationRow | undefined
  readonly search: IntentSearch | undefined
  /** The intent that alone may cover it, in place of those that are searched. */
  readonly intentId?: string
}

/** How a request is answered, and what would pay. */
export interface Answered {
  readonly approvedEuros: Euros
  readonly decision: Decision
  readonly decided: SpendDecision
  readonly intent: IntentRow | undefined
  readonly source: AuthorizationRow['source']
  readonly walletId: string
}

/** The intent that covers the payment with this request; undefined if none does. */
function findCover(
  { content, existing, search, intentId }: Request,
  batch: DecisionState,
): IntentRow | undefined {
  const { payments } = batch
  if (existing && !isUnplaced(existing)) {
    const intent = existing.source === 'intent' ? payments.find(existing.intentId) : undefined
    const { approvedCents } = foldFacts(addFact(existing.facts, requestFact(content)))
    return intent && approvedCents <= (intent.holdEuros ?? 0n) ? intent : undefined
  }
  const candidates = intentId === undefined ? search && batch.candidates.get(search) : [intentId]
  for (const id of candidates ?? []) {
    const intent = payments.find(id)
    if (intent && payments.blockerOf(intent) === undefined) return intent
  }
  return undefined
}

/** The fact that we answer a request, by default with the whole amount. */
export const requestFact = (
  { ask, amountEuros }: AuthorizationRequest,
  approvedCents: Euros = amountEuros,
): PaymentFact => ({ type: 'authorized', increment: ask, requestedCents: amountEuros, approvedCents })

/** What the approval would have to hold beyond what is held: less, where facts came first. */
function neededEuros(existing: AuthorizationRow | undefined, content: AuthorizationRequest): Euros {
  const facts = existing?.facts ?? noFacts
  const before = foldFacts(facts).heldCents
  return foldFacts(addFact(facts, requestFact(content))).heldCents - before
}

/** Decides a request; changes nothing, and is the same for a simulation. */
export function answerRequest(
  request: Request,
  spender: Spender,
  batch: DecisionState,
  id: string,
): Answered {
  const { content, existing, place } = request
  const { book, cards } = batch
  const card = cards.get(place.numberId)
  const intent = findCover(request, batch)
  const purse = card?.walletId ?? null
  const walletId = intent ? spender.walletId : (existing?.walletId ?? purse ?? spender.walletId)
  const isPurse = purse !== null && walletId === purse
  const needed = neededEuros(existing, content)
  const available = book.available(walletId)
  const isPart = content.partialAllowed && !intent && available > 0n && available < needed
  const amountEuros = isPart ? available : content.amountEuros
  const decided = decideAmount(request, spender, batch, { id, amountEuros, needed, intent, walletId })
  const blocker = blockerOf(request, intent, batch)
  const decision = blocker ? blockedDecision(decided.decision, blocker) : decided.decision
  return {
    approvedEuros: decision.allowed ? amountEuros : 0n,
    decision,
    decided,
    intent,
    source: intent ? 'intent' : isPurse ? 'purse' : 'wallet',
    walletId,
  }
}

/** Why the card cannot pay this, whatever the rules would say; undefined if it can. */
export function blockerOf(
  { content, existing, place }: Request,
  intent: IntentRow | undefined,
  batch: DecisionState,
): string | undefined {
  const terms = batch.terms.get(place.cardId)
  if (place.isLate) return TOO_LATE
  const blocker = cardBlocker(batch.cards.get(place.numberId), terms, existing, batch)
  if (blocker) return blocker
  if (isOrphan(content, existing)) return 'There is no open authorization to which this could be added.'
  if (terms && isOfOtherIntent(terms, intent?.id)) return otherIntentWords(terms)
  if (existing?.source === 'intent' && !intent)
    return 'The intent does not hold enough for this increment: declare another intent for the rest.'
  return tokenBlocker(content, existing, place, intent, batch)
}

/** Why the network token that pays cannot pay this; undefined if it can, or if none pays. */
function tokenBlocker(
  content: AuthorizationRequest,
  existing: AuthorizationRow | undefined,
  { cardId }: Request['place'],
  intent: IntentRow | undefined,
  { credentials, now }: DecisionState,
): string | undefined {
  const { merchant } = content
  const { networkTokenId } = merchant
  if (networkTokenId === null) return undefined
  const token = credentials.find(networkTokenId)
  if (token?.cardId !== cardId) return 'The network token is not known here.'
  if (content.amountEuros > 0n && token.intentId !== null && token.intentId !== intent?.id)
    return `The network token pays the intent ${token.intentId} alone, which does not cover this.`
  return credentials.blockerOf(networkTokenId, { merchant, now, ...furtherCharge(content, existing) })
}

/** What a request adds to the charges of a token: nothing, where a receipt has told of the same payment before. */
function furtherCharge(content: AuthorizationRequest, existing: AuthorizationRow | undefined) {
  const { amountEuros, ask } = content
  if (!existing?.mppCredentialId) return { amountEuros, isIncrement: ask > 0 }
  const before = chargedEuros(existing.facts)
  const further = chargedEuros(addFact(existing.facts, requestFact(content))) - before
  return { amountEuros: further > 0n ? further : 0n, isIncrement: before > 0n }
}

const chargedEuros = (facts: PaymentFacts): Euros => {
  const { heldCents, capturedCents } = foldFacts(facts)
  return heldCents + capturedCents
}

/** A check of the card itself comes first: the rules cannot outweigh it. */
const blockedDecision = (decision: Decision, message: string): Decision => ({
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
  readonly amountEuros: Euros
  readonly needed: Euros
  readonly intent: IntentRow | undefined
  readonly walletId: string
}

function decideAmount(
  { content, existing, place }: Request,
  spender: Spender,
  batch: DecisionState,
  { id, amountEuros, needed, intent, walletId }: Amounts,
): SpendDecision {
  const { book, counters, riskAssessor } = batch
  const { descriptor, url } = content.merchant
  // What the network leaves out was judged with the intent.
  const mcc = content.merchant.mcc ?? intent?.mcc ?? null
  const country = content.merchant.country ?? intent?.country ?? null
  const terms = batch.terms.get(place.cardId)
  const isNamed = intent !== undefined && intent.cardId === place.cardId
  const name = nameOfDescriptor(descriptor)
  const merchant = intent?.merchant ?? name
  const risk = riskAssessor.assess(
    spender.id,
    { amountEuros, merchant, country },
    { isDeclared: intent !== undefined },
  )
  // A machine payment has been counted for its card since it began.
  const isCounted = isNamed || existing?.facts.begun !== undefined
  const ofCard = terms && !isCounted ? cardBudgets(terms, counters) : []
  const isChecked = !intent && needed > 0n && amountEuros > 0n
  return decideSpend(
    spender,
    {
      kind: 'card',
      amountEuros,
      paymentEuros: existing ? foldFacts(existing.facts).approvedCents + amountEuros : undefined,
      merchant,
      alsoNamed: [name, descriptor, ...(url ? [url] : [])].filter(other => other !== merchant),
      payeeIban: null,
      mcc,
      country,
      intentId: intent?.id ?? null,
      possibleDuplicateOf: null,
      budgets: intent ? ofCard : [...counters.ownerBudgets(), ...ofCard],
      risk,
      approval: null,
      walletFrozen: book.isFrozen(walletId),
      availableEuros: isChecked
        ? book.available(walletId) + amountEuros - smaller(needed, amountEuros)
        : null,
      card: terms ? controlsOf(terms, isNamed) : null,
    },
    counters.snapshotOf(spender.id, spender.term),
    batch,
    { type: 'card_authorization', id },
    terms ? compiledTermsOf(terms, isNamed) : null,
  )
}

const smaller = (one: Euros, other: Euros): Euros => (one < other ? one : other)

/** The reply to the network. */
export function replyOf(
  { approvedEuros, decision }: Pick<Answered, 'approvedEuros' | 'decision'>,
  askedEuros: Euros,
): CardReply {
  if (decision.allowed) return { kind: 'approved', approvedEuros, askedEuros }
  return { kind: 'declined', reason: excerpt(decision.reason) }
}
