import { type Cents, cents } from '../../values/money.ts'
import type { OriginalAmount } from '../../values/original-amount.ts'

/** The merchant's amount, which is stated only in another currency than euros. */
interface StatedOriginal {
  readonly original?: OriginalAmount | undefined
}

/** States one fact of a payment, as a network, a merchant, the owner or this service reports it. */
export type PaymentFact =
  /** This service begins the payment, for at most this amount. */
  | ({ readonly type: 'requested'; readonly cents: Cents } & StatedOriginal)
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

interface NetworkAnswer extends StatedOriginal {
  readonly cents: Cents
  readonly approved: boolean
}

type StoredCents = string

/** All facts of one payment as a set, with the member names of the stored JSON (`card_authorizations.facts`). */
export interface PaymentFacts {
  readonly asks: readonly ({
    readonly ask: number
    readonly asked: StoredCents
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
  readonly begun?: StoredCents
  readonly begunOriginal?: OriginalAmount
  readonly confirmed: StoredCents | null
  readonly notPaid?: true
  readonly returned?: readonly { readonly id: string; readonly amount: StoredCents }[]
  readonly expired: boolean
}

export const noPaymentFacts: PaymentFacts = {
  asks: [],
  outcome: [],
  reversals: [],
  clearings: [],
  refunds: [],
  confirmed: null,
  expired: false,
}

export interface AuthRequest extends StatedOriginal {
  readonly increment: number
  readonly requestedCents: Cents
  readonly approvedCents: Cents
}

export const decodeAuthRequests = ({ asks }: PaymentFacts): AuthRequest[] =>
  asks.map(({ ask, asked, approved, original }) => ({
    increment: ask,
    requestedCents: cents(asked),
    approvedCents: cents(approved),
    original,
  }))

export const disputeCreditCents = ({ returned = [] }: PaymentFacts, disputeId: string): Cents =>
  cents(returned.find(({ id }) => id === disputeId)?.amount ?? '0')

/** If the request of a payment never arrives, its reversals and its expiry can move to another payment. */
export const reversalAndExpiryFacts = ({ reversals, expired }: PaymentFacts): PaymentFact[] => [
  ...reversals.map(
    ({ id, amount }): PaymentFact => ({
      type: 'reversed',
      id,
      cents: amount === null ? null : cents(amount),
    }),
  ),
  ...(expired ? [{ type: 'expired' } as const] : []),
]

/** Appends a fact. Facts commute, and a known fact changes nothing, since networks repeat and reorder messages. */
export function addPaymentFact(facts: PaymentFacts, fact: PaymentFact): PaymentFacts {
  switch (fact.type) {
    case 'requested':
      return facts.begun === undefined ? begin(facts, fact) : facts
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

type FactOf<T extends PaymentFact['type']> = Extract<PaymentFact, { type: T }>

export const collectPaymentFacts = (facts: readonly PaymentFact[]): PaymentFacts =>
  facts.reduce(addPaymentFact, noPaymentFacts)

function addById<T extends { readonly id: string }>(facts: readonly T[], fact: T): readonly T[] {
  return facts.some(({ id }) => id === fact.id) ? facts : [...facts, fact]
}

const stated = ({ original }: StatedOriginal): StatedOriginal => (original ? { original } : {})

const begin = (facts: PaymentFacts, { cents, original }: FactOf<'requested'>): PaymentFacts => ({
  ...facts,
  begun: String(cents),
  ...(original && { begunOriginal: original }),
})

/** The first answer to a request counts. */
function addRequest(facts: PaymentFacts, fact: FactOf<'authorized'>): PaymentFacts {
  const { increment, requestedCents, approvedCents } = fact
  if (facts.asks.some(({ ask }) => ask === increment)) return facts
  const request = {
    ask: increment,
    asked: String(requestedCents),
    approved: String(approvedCents),
    ...stated(fact),
  }
  return { ...facts, asks: [...facts.asks, request].sort((one, other) => one.ask - other.ask) }
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
