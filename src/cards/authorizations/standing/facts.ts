import type { Euros } from '../../../values/money.ts'

/** An amount in cents, as JSON keeps it. */
type Cents = string

/** A request of the network about one authorization, and what we answered. */
export interface Ask {
  /** 0 = the authorization itself, 1 = its first increment, and so on. */
  readonly ask: number
  readonly asked: Cents
  /** Zero = declined. */
  readonly approved: Cents
}

/** Everything that is known of one card payment: a set, in whatever order and however often the messages came. */
export interface Facts {
  readonly asks: readonly Ask[]
  /** The processor's own word about its answers, which wins over ours. */
  readonly outcome: readonly { readonly amount: Cents; readonly approved: boolean }[]
  /** Null = the whole authorization. */
  readonly reversals: readonly { readonly id: string; readonly amount: Cents | null }[]
  readonly clearings: readonly { readonly id: string; readonly amount: Cents; readonly final: boolean }[]
  readonly refunds: readonly { readonly id: string; readonly amount: Cents }[]
  /** What a machine payment is for: the service has begun it itself. Left out where somebody else spoke first. */
  readonly begun?: Cents
  /** What the agent's checkout has confirmed, or the merchant of a machine payment by its receipt. */
  readonly confirmed: Cents | null
  /** A machine payment counts as not paid. The weakest word: a receipt or an approval outweighs it. */
  readonly notPaid?: true
  /** What disputes that have ended have left with the owner, each by its id: it is not spent. */
  readonly returned?: readonly { readonly id: string; readonly amount: Cents }[]
  /** The time for what was authorized or confirmed has run out. */
  readonly expired: boolean
}

export const noFacts: Facts = {
  asks: [],
  outcome: [],
  reversals: [],
  clearings: [],
  refunds: [],
  confirmed: null,
  expired: false,
}

/** Adds a member unless one of its id is there: a message that comes twice is one fact. */
export function withFact<T extends { readonly id: string }>(facts: readonly T[], fact: T): readonly T[] {
  return facts.some(({ id }) => id === fact.id) ? facts : [...facts, fact]
}

/** Two messages may tell of one clearing. It is the last of its payment if one of them says so, whichever came first. */
export function withClearing(
  facts: Facts['clearings'],
  clearing: Facts['clearings'][number],
): Facts['clearings'] {
  return withFact(facts, clearing).map(known =>
    known.id === clearing.id ? { ...known, final: known.final || clearing.final } : known,
  )
}

/** The first answer to a request counts, whatever comes later under its number. */
export function withAsk(facts: Facts, ask: Ask): Facts {
  if (facts.asks.some(other => other.ask === ask.ask)) return facts
  return { ...facts, asks: [...facts.asks, ask].sort((one, other) => one.ask - other.ask) }
}

export const withOutcome = (facts: Facts, outcome: Facts['outcome']): Facts =>
  outcome.length > facts.outcome.length ? { ...facts, outcome } : facts

/** What was approved for one request. */
export interface Approval {
  readonly ask: number
  readonly amount: Euros
}

/** What the processor has said of a request, else what we answered. */
function approvalsOf({ asks, outcome }: Facts): Approval[] {
  const ours = asks.filter(({ ask }) => ask >= outcome.length)
  const said = outcome.map(({ amount, approved }, ask) => ({ ask, approved: approved ? amount : '0' }))
  return [...said, ...ours].map(({ ask, approved }) => ({ ask, amount: BigInt(approved) }))
}

const sum = (amounts: readonly { readonly amount: Euros }[]): Euros =>
  amounts.reduce((total, { amount }) => total + amount, 0n)

const exactAmounts = (facts: readonly { readonly amount: Cents }[]) =>
  facts.map(({ amount }) => ({ amount: BigInt(amount) }))

/** How a card payment stands. */
export interface Standing {
  readonly approvals: readonly Approval[]
  readonly approvedEuros: Euros
  /** What stays held. */
  readonly heldEuros: Euros
  /** What has left the purse, the wallet or the intent's hold. */
  readonly capturedEuros: Euros
  /** What the network has cleared. */
  readonly clearedEuros: Euros
  readonly refundedEuros: Euros
  readonly confirmedEuros: Euros | null
  /** What a machine payment may still cost, as far as nobody has said what became of it. */
  readonly pendingEuros: Euros
  /** Nothing more is held for it. What is cleared later is booked all the same. */
  readonly isOver: boolean
  readonly isReversed: boolean
  /** A machine payment has come to nothing. A receipt or an approval of the network wins over that word. */
  readonly isNotPaid: boolean
}

/** What the owner has back by disputes. */
export const returnedEuros = ({ returned = [] }: Facts): Euros => sum(exactAmounts(returned))

/** The one reading of the facts: it depends on the set, not on the order in which its members came. */
export function standingOf(facts: Facts): Standing {
  const approvals = approvalsOf(facts)
  const approvedEuros = sum(approvals)
  const isWholeReversed = facts.reversals.some(({ amount }) => amount === null)
  const partlyReversed = facts.reversals.flatMap(({ amount }) =>
    amount === null ? [] : { amount: BigInt(amount) },
  )
  const reversedEuros = isWholeReversed ? approvedEuros : sum(partlyReversed)
  const isReversed = isWholeReversed || (approvedEuros > 0n && reversedEuros >= approvedEuros)
  const clearedEuros = sum(exactAmounts(facts.clearings))
  const isNotPaid = facts.notPaid === true && facts.confirmed === null && approvedEuros === 0n
  const isOver = facts.expired || isNotPaid || isReversed || facts.clearings.some(({ final }) => final)
  const confirmedEuros = facts.confirmed === null ? null : BigInt(facts.confirmed)
  const isAwaited = !isOver && confirmedEuros !== null && confirmedEuros > clearedEuros
  const capturedEuros = isAwaited ? confirmedEuros : clearedEuros
  const unused = approvedEuros - reversedEuros - capturedEuros
  return {
    approvals,
    approvedEuros,
    heldEuros: isOver || unused < 0n ? 0n : unused,
    capturedEuros,
    clearedEuros,
    refundedEuros: sum(exactAmounts(facts.refunds)),
    confirmedEuros,
    pendingEuros: isOver ? 0n : pendingOf(facts, clearedEuros),
    isOver,
    isReversed,
    isNotPaid,
  }
}

/** The network's answer or a receipt says what became of a machine payment, and the last clearing; another one only of a part. */
function pendingOf({ begun = '0', asks, outcome, confirmed }: Facts, clearedEuros: Euros): Euros {
  const isKnown = asks.length + outcome.length > 0 || confirmed !== null
  const left = BigInt(begun) - clearedEuros
  return isKnown || left < 0n ? 0n : left
}

/** The part of each approval that is paid, and the part that stays held. */
export interface Share extends Approval {
  readonly captured: Euros
  readonly held: Euros
}

/**
 * Divides a standing among its approvals: what is captured fills the first ones, what is held the last ones. So no hold
 * ever has to grow: a later approval brings a hold of its own.
 */
export function sharesOf({ approvals, capturedEuros, heldEuros }: Standing): Share[] {
  let captured = capturedEuros
  const paid = approvals.map(approval => {
    const part = captured < approval.amount ? captured : approval.amount
    captured -= part
    return { ...approval, captured: part }
  })
  let held = heldEuros
  return paid
    .toReversed()
    .map(share => {
      const room = share.amount - share.captured
      const part = held < room ? held : room
      held -= part
      return { ...share, held: part }
    })
    .toReversed()
}
