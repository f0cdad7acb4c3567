import type { PostingCause } from '../../money/ledger/index.ts'
import { type Cents, cents, minOf, NO_CENTS, remainderOf, subtractCents, sumOf } from '../../values/money.ts'
import { type OriginalAmount, sumOriginals } from '../../values/original-amount.ts'

/** The amounts of a payment that have been posted. */
interface BookedAmounts {
  readonly capturedCents: Cents
  readonly clearedCents: Cents
  readonly refundedCents: Cents
}

/** The facts about a payment, and what has been posted for them. */
interface BookedFacts extends BookedAmounts {
  readonly facts: PaymentFacts
}

export interface Payment extends BookedAmounts {
  readonly id: string
  readonly agentId: string | null
  readonly cardId: string | null
  readonly walletId: string
  source: string
  intentId: string | null
  facts: PaymentFacts
  transactionId: string | null
  readonly merchant: string
  readonly mcc: string | null
  readonly country: string | null
}

// 1. Facts: what is stated about a payment, in any order and repeatedly.

/** The merchant's amount, which is stated only in another currency than euros. */
interface StatedOriginal {
  readonly original?: OriginalAmount | undefined
}

/** States one fact of a payment, as a network, a merchant, the owner or this service reports it. */
export type PaymentFact =
  /** This service begins the payment, for at most this amount. The margin is part of an amount that was converted. */
  | ({
      readonly type: 'requested'
      readonly cents: Cents
      readonly marginPercent?: number | undefined
    } & StatedOriginal)
  /** The answer to a request of the network: 0 is the authorization, 1 its first increment, and so on. */
  | ({
      readonly type: 'authorized'
      readonly increment: number
      readonly requestedCents: Cents
      readonly approvedCents: Cents
    } & StatedOriginal)
  /** The network's own list of answers to its first requests, which overrides the service's. */
  | { readonly type: 'answered'; readonly answers: readonly NetworkAnswer[] }
  /** Null means the whole authorization. */
  | { readonly type: 'reversed'; readonly id: string; readonly cents: Cents | null }
  /** The payer's checkout or the payee's receipt states that it is paid. Only the first statement counts. */
  | { readonly type: 'captured'; readonly cents: Cents }
  /** The network moves the money. `final`: the rest of the authorized amount will not be cleared. */
  | ({
      readonly type: 'cleared'
      readonly id: string
      readonly cents: Cents
      readonly final: boolean
    } & StatedOriginal)
  | ({ readonly type: 'refunded'; readonly id: string; readonly cents: Cents } & StatedOriginal)
  /** A dispute credits this amount to the owner. A later amount of the same dispute replaces it. */
  | { readonly type: 'credited'; readonly id: string; readonly cents: Cents }
  /** The payment counts as not paid. A capture or an approval of the network overrides this. */
  | { readonly type: 'not_paid' }
  | { readonly type: 'expired' }

export type FactOf<T extends PaymentFact['type']> = Extract<PaymentFact, { type: T }>

interface NetworkAnswer extends StatedOriginal {
  readonly cents: Cents
  readonly approved: boolean
}

type StoredCents = string

/** All facts of one payment as a set, with the member names of the stored JSON (`card_authorizations.facts`). */
export interface PaymentFacts {
  readonly requests: readonly ({
    readonly increment: number
    readonly requested: StoredCents
    readonly approved: StoredCents
  } & StatedOriginal)[]
  readonly outcome: readonly ({
    readonly amount: StoredCents
    readonly approved: boolean
  } & StatedOriginal)[]
  readonly reversals: readonly { readonly id: string; readonly amount: StoredCents | null }[]
  readonly clearings: readonly ({
    readonly id: string
    readonly amount: StoredCents
    readonly final: boolean
  } & StatedOriginal)[]
  readonly refunds: readonly ({ readonly id: string; readonly amount: StoredCents } & StatedOriginal)[]
  readonly initiated?: StoredCents
  readonly initiatedOriginal?: OriginalAmount
  readonly initiatedMarginPercent?: number
  readonly confirmed: StoredCents | null
  readonly notPaid?: true
  readonly returned?: readonly { readonly id: string; readonly amount: StoredCents }[]
  readonly expired: boolean
}

export const noPaymentFacts: PaymentFacts = {
  requests: [],
  outcome: [],
  reversals: [],
  clearings: [],
  refunds: [],
  confirmed: null,
  expired: false,
}

/** A payment of which nothing is known yet. */
export const unknownPayment: BookedFacts = {
  facts: noPaymentFacts,
  capturedCents: NO_CENTS,
  clearedCents: NO_CENTS,
  refundedCents: NO_CENTS,
}

export interface AuthRequest extends StatedOriginal {
  readonly increment: number
  readonly requestedCents: Cents
  readonly approvedCents: Cents
}

export const decodeAuthRequests = ({ requests }: PaymentFacts): AuthRequest[] =>
  requests.map(({ increment, requested, approved, original }) => ({
    increment,
    requestedCents: cents(requested),
    approvedCents: cents(approved),
    original,
  }))

export const disputeCreditCents = ({ returned = [] }: PaymentFacts, disputeId: string): Cents =>
  cents(returned.find(({ id }) => id === disputeId)?.amount ?? '0')

export const collectPaymentFacts = (facts: readonly PaymentFact[]): PaymentFacts =>
  facts.reduce(addPaymentFact, noPaymentFacts)

/** The reversals and the expiry of a payment whose request never came belong to another payment. */
export const addReversalsAndExpiry = (
  to: PaymentFacts,
  { reversals, expired }: PaymentFacts,
): PaymentFacts => ({
  ...to,
  reversals: reversals.reduce(addById, to.reversals),
  expired: to.expired || expired,
})

/** Appends a fact. Facts commute, and a known fact changes nothing, since networks repeat and reorder messages. */
export function addPaymentFact(facts: PaymentFacts, fact: PaymentFact): PaymentFacts {
  switch (fact.type) {
    case 'requested':
      return facts.initiated === undefined ? begin(facts, fact) : facts
    case 'authorized':
      return addRequest(facts, fact)
    case 'answered':
      return addAnswers(facts, fact.answers)
    case 'reversed':
      return {
        ...facts,
        reversals: addById(facts.reversals, { id: fact.id, amount: fact.cents?.toString() ?? null }),
      }
    case 'captured':
      return { ...facts, confirmed: facts.confirmed ?? String(fact.cents) }
    case 'cleared':
      return addClearing(facts, fact)
    case 'refunded':
      return {
        ...facts,
        refunds: addById(facts.refunds, { id: fact.id, amount: String(fact.cents), ...stated(fact) }),
      }
    case 'credited':
      return setCredit(facts, fact)
    case 'not_paid':
      return { ...facts, notPaid: true }
    case 'expired':
      return { ...facts, expired: true }
  }
}

function addById<T extends { readonly id: string }>(facts: readonly T[], fact: T): readonly T[] {
  return facts.some(({ id }) => id === fact.id) ? facts : [...facts, fact]
}

const stated = ({ original }: StatedOriginal): StatedOriginal => (original ? { original } : {})

const begin = (
  facts: PaymentFacts,
  { cents, original, marginPercent }: FactOf<'requested'>,
): PaymentFacts => ({
  ...facts,
  initiated: String(cents),
  ...(original && { initiatedOriginal: original }),
  ...(marginPercent !== undefined && { initiatedMarginPercent: marginPercent }),
})

/** The first answer to a request counts. */
function addRequest(facts: PaymentFacts, fact: FactOf<'authorized'>): PaymentFacts {
  const { increment, requestedCents, approvedCents } = fact
  if (facts.requests.some(known => known.increment === increment)) return facts
  const request = {
    increment,
    requested: String(requestedCents),
    approved: String(approvedCents),
    ...stated(fact),
  }
  const requests = [...facts.requests, request].sort((one, other) => one.increment - other.increment)
  return { ...facts, requests }
}

/** The network repeats its earlier answers in each list, so the longest list is the latest. */
function addAnswers(facts: PaymentFacts, answers: readonly NetworkAnswer[]): PaymentFacts {
  if (answers.length <= facts.outcome.length) return facts
  const outcome = answers.map(answer => ({
    amount: String(answer.cents),
    approved: answer.approved,
    ...stated(answer),
  }))
  return { ...facts, outcome }
}

/** Two messages may report one clearing. It is final, and has an original amount, if one of them says so. */
function addClearing(facts: PaymentFacts, fact: FactOf<'cleared'>): PaymentFacts {
  const { id, cents, final } = fact
  const clearings = addById(facts.clearings, { id, amount: String(cents), final, ...stated(fact) })
  return {
    ...facts,
    clearings: clearings.map(known =>
      known.id === id ? { ...stated(fact), ...known, final: known.final || final } : known,
    ),
  }
}

function setCredit(
  { returned = [], ...facts }: PaymentFacts,
  { id, cents }: FactOf<'credited'>,
): PaymentFacts {
  const others = returned.filter(one => one.id !== id)
  const all = cents === 0n ? others : [...others, { id, amount: String(cents) }]
  return all.length === 0 ? facts : { ...facts, returned: all }
}

// 2. State: what the facts come to, in any order.

type Approval = Pick<AuthRequest, 'increment' | 'approvedCents' | 'original'>

export interface PaymentState extends BookedAmounts {
  readonly approvals: readonly Approval[]
  /** How many requests of the network are answered, by this service or by the network itself. */
  readonly answerCount: number
  readonly requestedCents: Cents
  readonly approvedCents: Cents
  readonly heldCents: Cents
  /** The amount that the owner keeps from decided disputes. */
  readonly creditedCents: Cents
  /** Captured, and neither refunded nor credited. */
  readonly spentCents: Cents
  readonly confirmedCents: Cents | null
  /** May still be spent, since the outcome of a payment that this service began is unknown. */
  readonly pendingCents: Cents
  /** Zero if the network or the payee stated the payment first. */
  readonly initiatedCents: Cents
  /** Whether this service began the payment, before the network or the payee reported it. */
  readonly isSelfInitiated: boolean
  /** Only a refund is known: money returned for an unknown payment. */
  readonly isRefundOnly: boolean
  /** Nothing more is held for it. A later clearing is booked anyway. */
  readonly isClosed: boolean
  readonly isReversed: boolean
  readonly isNotPaid: boolean
  /** What the merchant takes, in its currency; null for euros, or if it is unknown. */
  readonly original: OriginalAmount | null
  readonly refundedOriginal: OriginalAmount | null
}

const sumOfFacts = (facts: readonly { readonly amount: string }[]): Cents =>
  sumOf(facts.map(({ amount }) => cents(amount)))

function approvalsOf({ outcome }: PaymentFacts, requests: readonly AuthRequest[]): Approval[] {
  const ours = requests.filter(({ increment }) => increment >= outcome.length)
  return [
    ...outcome.map(({ amount, approved, original }, increment) => ({
      increment,
      approvedCents: approved ? cents(amount) : NO_CENTS,
      original,
    })),
    ...ours.map(({ increment, approvedCents, original }) => ({ increment, approvedCents, original })),
  ]
}

function reversalOf({ reversals }: PaymentFacts, approvedCents: Cents) {
  const isWhole = reversals.some(({ amount }) => amount === null)
  const partial = sumOf(reversals.map(({ amount }) => cents(amount ?? '0')))
  const reversedCents = isWhole ? approvedCents : partial
  return { reversedCents, isReversed: isWhole || (approvedCents > 0n && reversedCents >= approvedCents) }
}

/** What was cleared counts, else what was authorized, else what this service began the payment for. */
function originalsOf(
  { clearings, refunds, initiatedOriginal }: PaymentFacts,
  approvals: readonly Approval[],
  isRefundOnly: boolean,
) {
  const approved = approvals.filter(({ approvedCents }) => approvedCents > 0n)
  const answered = approved.length > 0 ? approved : approvals
  const refundedOriginal = originalOf(refunds)
  return {
    original:
      originalOf(clearings) ??
      originalOf(answered) ??
      (isRefundOnly ? refundedOriginal : (initiatedOriginal ?? null)),
    refundedOriginal,
  }
}

const originalOf = (facts: readonly Pick<Approval, 'original'>[]): OriginalAmount | null =>
  sumOriginals(facts.map(({ original }) => original))

const states = new WeakMap<PaymentFacts, PaymentState>()

/** Facts never change, so their state is computed once. */
export function paymentState(facts: PaymentFacts): PaymentState {
  const known = states.get(facts)
  if (known) return known
  const state = foldPaymentFacts(facts)
  states.set(facts, state)
  return state
}

function foldPaymentFacts(facts: PaymentFacts): PaymentState {
  const requests = decodeAuthRequests(facts)
  const approvals = approvalsOf(facts, requests)
  const approvedCents = sumOf(approvals.map(approval => approval.approvedCents))
  const { reversedCents, isReversed } = reversalOf(facts, approvedCents)
  const clearedCents = sumOfFacts(facts.clearings)
  const refundedCents = sumOfFacts(facts.refunds)
  const creditedCents = sumOfFacts(facts.returned ?? [])
  const initiatedCents = cents(facts.initiated ?? '0')
  const confirmedCents = facts.confirmed === null ? null : cents(facts.confirmed)
  const isNotPaid = facts.notPaid === true && confirmedCents === null && approvedCents === 0n
  const isClosed = facts.expired || isNotPaid || isReversed || facts.clearings.some(({ final }) => final)
  const isAwaited = !isClosed && confirmedCents !== null && confirmedCents > clearedCents
  const capturedCents = isAwaited ? confirmedCents : clearedCents
  const isAnswered = requests.length + facts.outcome.length > 0 || confirmedCents !== null
  const isRefundOnly =
    facts.refunds.length > 0 && !isAnswered && facts.clearings.length === 0 && facts.initiated === undefined
  return {
    approvals,
    answerCount: Math.max(requests.length, facts.outcome.length),
    requestedCents: sumOf(requests.map(one => one.requestedCents)),
    approvedCents,
    heldCents: isClosed ? NO_CENTS : remainderOf(remainderOf(approvedCents, reversedCents), capturedCents),
    capturedCents,
    clearedCents,
    refundedCents,
    creditedCents,
    spentCents: remainderOf(remainderOf(capturedCents, refundedCents), creditedCents),
    confirmedCents,
    pendingCents: isClosed || isAnswered ? NO_CENTS : remainderOf(initiatedCents, clearedCents),
    initiatedCents,
    isSelfInitiated: facts.initiated !== undefined,
    isRefundOnly,
    isClosed,
    isReversed,
    isNotPaid,
    ...originalsOf(facts, approvals, isRefundOnly),
  }
}

export const bookedAmounts = ({
  capturedCents,
  clearedCents,
  refundedCents,
}: PaymentState): BookedAmounts => ({
  capturedCents,
  clearedCents,
  refundedCents,
})

/** For a payment whose record keeps no amounts: all that its facts state has been posted. */
export const bookedFacts = (facts: PaymentFacts): BookedFacts => ({
  facts,
  ...bookedAmounts(paymentState(facts)),
})

// 3. Difference: what follows from one more fact.

export interface PaymentChange {
  readonly facts: PaymentFacts
  readonly before: PaymentState
  readonly after: PaymentState
  readonly money: MoneyChange
  readonly limits: readonly LimitUsage[]
  readonly refund: RefundChange
  readonly intentStep: IntentStep
}

/**
 * All that one more fact changes. Money is compared with what has been posted, since the facts of a placeholder may
 * have been added to the payment's without a posting.
 */
export function evolve(payment: BookedFacts, fact: PaymentFact): PaymentChange {
  const facts = addPaymentFact(payment.facts, fact)
  const [before, after] = [paymentState(payment.facts), paymentState(facts)]
  const shares = splitByApproval(after)
  return {
    facts,
    before,
    after,
    money: moneyBetween(payment, after, shares),
    limits: limitUsageOf(after, shares),
    refund: refundBetween(before, after),
    intentStep: intentStepOf(after),
  }
}

/** The part of a state that belongs to one approval. */
export interface ApprovalShare extends Approval {
  readonly capturedCents: Cents
  readonly heldCents: Cents
}

/**
 * Divides a state among its approvals: captures fill the first ones, holds the last ones. A hold therefore
 * never grows, and a later approval has a hold of its own.
 */
function splitByApproval({ approvals, capturedCents, heldCents }: PaymentState): ApprovalShare[] {
  let captured = capturedCents
  const paid = approvals.map(approval => {
    const part = minOf(captured, approval.approvedCents)
    captured = remainderOf(captured, part)
    return { ...approval, capturedCents: part }
  })
  let held = heldCents
  return paid
    .toReversed()
    .map(share => {
      const part = minOf(held, remainderOf(share.approvedCents, share.capturedCents))
      held = remainderOf(held, part)
      return { ...share, heldCents: part }
    })
    .toReversed()
}

/** The money that moves between what is booked and the new state. At most one of capture and undo is above zero. */
export interface MoneyChange {
  readonly captureCents: Cents
  readonly undoCents: Cents
  readonly settleCents: Cents
  readonly refundCents: Cents
  readonly shares: readonly ApprovalShare[]
}

const moneyBetween = (
  booked: BookedAmounts,
  state: PaymentState,
  shares: readonly ApprovalShare[],
): MoneyChange => ({
  captureCents: remainderOf(state.capturedCents, booked.capturedCents),
  undoCents: remainderOf(booked.capturedCents, state.capturedCents),
  settleCents: remainderOf(state.clearedCents, booked.clearedCents),
  refundCents: remainderOf(state.refundedCents, booked.refundedCents),
  shares,
})

/** How a part of a payment counts towards limits. */
export interface LimitUsage {
  /**
   * The number of an increment, or the amount cleared above all approvals (`excess`), or without an approval
   * (`unauthorized`).
   */
  readonly of: number | 'excess' | 'unauthorized'
  readonly amountCents: Cents
  readonly heldCents: Cents
  readonly capturedCents: Cents
  readonly spentCents: Cents
  /** Whether the payment counts as a use by this part. Under an intent, it is not a use of its own. */
  readonly isUse: boolean
}

function limitUsageOf(state: PaymentState, shares: readonly ApprovalShare[]): LimitUsage[] {
  const { approvals, isSelfInitiated, pendingCents } = state
  const first = approvals.find(({ approvedCents }) => approvedCents > 0n)?.increment
  let [captured, spent] = [state.capturedCents, state.spentCents]
  const usage: LimitUsage[] = shares.map(({ increment, approvedCents, capturedCents, heldCents }) => {
    const part = minOf(capturedCents, spent)
    spent = subtractCents(spent, part)
    captured = subtractCents(captured, capturedCents)
    const isFirst = increment === first
    return {
      // A payment that this service began was reserved at its beginning, on that day, so its first approval
      // reserves nothing more.
      of: isSelfInitiated && isFirst ? 'unauthorized' : increment,
      ...{ amountCents: approvedCents, heldCents, capturedCents, spentCents: part },
      isUse: isFirst,
    }
  })
  const rest = { capturedCents: captured, spentCents: spent }
  const none = { capturedCents: NO_CENTS, spentCents: NO_CENTS }
  const isAuthorized = first !== undefined
  const excess = isAuthorized ? rest : none
  usage.push({
    of: 'excess',
    amountCents: excess.capturedCents,
    heldCents: NO_CENTS,
    isUse: false,
    ...excess,
  })
  if (isSelfInitiated && isAuthorized) return usage
  const unauthorized = isAuthorized ? none : rest
  const amountCents = unauthorized.capturedCents > 0n ? unauthorized.capturedCents : pendingCents
  usage.push({ of: 'unauthorized', amountCents, heldCents: pendingCents, isUse: true, ...unauthorized })
  return usage
}

/** Money that has come back. How much of it belongs to the payment may become known later. */
interface RefundChange {
  readonly arrivedCents: Cents
  /** The part of it that belongs to the payment. */
  readonly ofPaymentCents: Cents
  /** All that belongs to the payment of what has come back so far. */
  readonly totalCents: Cents
}

function refundBetween(before: PaymentState, after: PaymentState): RefundChange {
  const arrivedCents = subtractCents(after.refundedCents, before.refundedCents)
  const totalCents = refundedOfPayment(after)
  const ofPaymentCents = minOf(remainderOf(totalCents, refundedOfPayment(before)), arrivedCents)
  return { arrivedCents, ofPaymentCents, totalCents }
}

function refundedOfPayment({
  capturedCents,
  confirmedCents,
  refundedCents,
  isRefundOnly,
}: PaymentState): Cents {
  if (isRefundOnly) return NO_CENTS
  return minOf(refundedCents, capturedCents > 0n ? capturedCents : (confirmedCents ?? refundedCents))
}

type IntentStep = 'begin' | 'complete' | 'free'

/**
 * An intent is being paid while money is held or its outcome is unknown, is completed by the first capture,
 * and is otherwise free.
 */
function intentStepOf({ capturedCents, heldCents, pendingCents }: PaymentState): IntentStep {
  if (capturedCents > 0n) return 'complete'
  return heldCents > 0n || pendingCents > 0n ? 'begin' : 'free'
}

// 4. References: under which a payment is held, reserved and posted.

/** Each approval holds and reserves under its own reference, since a hold never grows. */
export const incrementPostingReference = (paymentId: string, increment: number): PostingCause => ({
  type: 'card_increment',
  id: `${paymentId}:${increment}`,
})

const overClearingReference = (paymentId: string): PostingCause => ({ type: 'card_payment', id: paymentId })

/**
 * For the amount cleared without an approval. A payment that this service began is reserved under it from its
 * request on.
 */
const unauthorizedClearingReference = (paymentId: string): PostingCause => ({
  type: 'card_unauthorized',
  id: paymentId,
})

export function limitUsageReference({ of }: LimitUsage, { id }: Pick<Payment, 'id'>): PostingCause {
  if (of === 'excess') return overClearingReference(id)
  return of === 'unauthorized' ? unauthorizedClearingReference(id) : incrementPostingReference(id, of)
}

/** Counts only towards the card's limits, since the payment may lose its intent to another payment. */
export const intentCoveredReference = ({ type, id }: PostingCause): PostingCause => ({
  type: `${type}_covered`,
  id,
})

/** For a confirmed price in another currency, until the network charges its euros. */
export const unchargedPostingReference = (paymentId: string): PostingCause => ({
  type: 'card_uncharged',
  id: paymentId,
})

export const intentHoldReference = (intentId: string): PostingCause => ({ type: 'intent', id: intentId })

type Referenced = Pick<Payment, 'id' | 'intentId' | 'facts'>

const incrementReferences = ({ id, facts }: Referenced): PostingCause[] =>
  paymentState(facts).approvals.map(({ increment }) => incrementPostingReference(id, increment))

export const paymentHoldReferences = (payment: Referenced): PostingCause[] => [
  ...incrementReferences(payment),
  ...(payment.facts.initiatedOriginal ? [unchargedPostingReference(payment.id)] : []),
  ...(payment.intentId ? [intentHoldReference(payment.intentId)] : []),
]

export function paymentReservationReferences(payment: Referenced): PostingCause[] {
  const { id, intentId } = payment
  const own = [...incrementReferences(payment), overClearingReference(id), unauthorizedClearingReference(id)]
  return intentId ? [...own, ...own.map(intentCoveredReference), intentHoldReference(intentId)] : own
}
