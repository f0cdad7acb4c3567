import type { IntentRow } from '../../../control/intents/index.ts'
import type { Cause } from '../../../money/ledger/index.ts'
import type { Euros } from '../../../values/money.ts'
import type { AuthorizationRow } from '../authorization-rows.ts'
import type { CardBatch } from '../batch.ts'
import { aloneCause, askCause, coveredCause, excessCause, intentCause } from './causes.ts'
import { returnedEuros, type Share, type Standing, sharesOf, standingOf } from './facts.ts'

/** Names the postings of one change, so that none is made twice. */
export interface Postings {
  next(): Cause
}

/** `source` is the id of the message, the confirmation or the deadline that brings the change. */
export function postingsOf(source: string): Postings {
  let count = 0
  return { next: () => ({ type: 'card_change', id: `${source}:${count++}` }) }
}

const smaller = (one: Euros, other: Euros): Euros => (one < other ? one : other)

/** The intent whose hold pays; undefined where none covers the payment. */
export const coveringIntent = (
  row: AuthorizationRow,
  { payments }: Pick<CardBatch, 'payments'>,
): IntentRow | undefined => (row.source === 'intent' ? payments.find(row.intentId) : undefined)

/** Moves the money of an authorization from how it stands to how it should stand, and gives back what is held no more. */
export function moveMoney(
  row: AuthorizationRow,
  standing: Standing,
  batch: CardBatch,
  postings: Postings,
): void {
  const { capturedEuros, clearedEuros, refundedEuros } = standing
  const money = new MoneyOfPayment(row, batch, postings)
  if (capturedEuros > row.capturedEuros) money.capture(capturedEuros - row.capturedEuros)
  if (capturedEuros < row.capturedEuros) money.undo(row.capturedEuros - capturedEuros)
  if (clearedEuros > row.clearedEuros) money.settle(clearedEuros - row.clearedEuros)
  if (refundedEuros > row.refundedEuros) money.refund(refundedEuros - row.refundedEuros)
  if (!coveringIntent(row, batch)) money.holdShares(sharesOf(standing))
}

/** The wallet that gets what comes back: the one that has paid, or the owner's where that is closed; null for suspense. */
export function refundPlace(
  { walletId }: AuthorizationRow,
  { wallets, ownersWalletId }: CardBatch,
): string | null {
  if (wallets.get(walletId)?.status !== 'closed') return walletId
  return ownersWalletId && wallets.get(ownersWalletId)?.status !== 'closed' ? ownersWalletId : null
}

class MoneyOfPayment {
  readonly #row: AuthorizationRow
  readonly #batch: CardBatch
  readonly #postings: Postings

  constructor(row: AuthorizationRow, batch: CardBatch, postings: Postings) {
    this.#row = row
    this.#batch = batch
    this.#postings = postings
  }

  /** The payment stands first in it: a statement finds its merchant by that. */
  #cause(): Cause {
    const { type, id } = this.#postings.next()
    return { type, id: `${this.#row.id}/${id}` }
  }

  /** Out of what is held, then out of the wallet; what is not there the owner owes: facts are never refused. */
  capture(amount: Euros): void {
    const { book } = this.#batch
    let left = amount
    for (const cause of this.#holds()) {
      const part = smaller(book.heldFor(cause), left)
      if (part > 0n) book.capture('card_capture', cause, 'clearing_cards', part, this.#cause())
      left -= part
    }
    if (left === 0n) return
    book.forceDebit('card_capture', this.#row.walletId, 'clearing_cards', left, this.#cause())
  }

  /** Gives back what was taken and never cleared. */
  undo(amount: Euros): void {
    const { book } = this.#batch
    if (this.#isClosed())
      book.move('card_undo_unmatched', 'clearing_cards', 'suspense', amount, this.#cause())
    else {
      book.move('card_undo', 'clearing_cards', this.#row.walletId, amount, this.#cause())
      this.#repay(amount)
    }
  }

  settle(amount: Euros): void {
    this.#batch.book.move('card_settle', 'clearing_cards', 'bank', amount, this.#cause())
  }

  refund(amount: Euros): void {
    const { book } = this.#batch
    const walletId = refundPlace(this.#row, this.#batch)
    if (walletId === null) book.move('card_refund_unmatched', 'bank', 'suspense', amount, this.#cause())
    else {
      book.move('card_refund', 'bank', walletId, amount, this.#cause())
      book.repayDebt(walletId, amount, this.#cause())
    }
  }

  /**
   * Holds each share as far as money is there: only what the processor has approved in our place may find too little.
   * Gives back the rest of each hold; what the owner owes is paid out of that first.
   */
  holdShares(shares: readonly Share[]): void {
    const { book } = this.#batch
    let freed = 0n
    for (const { ask, amount, held } of shares) {
      const cause = askCause(this.#row.id, ask)
      const holding = book.heldFor(cause)
      if (holding > held) freed += book.releasePart(cause, holding - held, this.#cause())
      if (!book.hasHeld(cause) && held > 0n && amount > 0n) this.#hold(cause, held)
    }
    if (freed > 0n) this.#repay(freed)
  }

  #hold(cause: Cause, wanted: Euros): void {
    const { book } = this.#batch
    const { walletId } = this.#row
    const part = smaller(wanted, book.available(walletId))
    if (part > 0n && !book.isFrozen(walletId) && !this.#isClosed()) book.hold(walletId, part, cause)
  }

  #holds(): Cause[] {
    const intent = coveringIntent(this.#row, this.#batch)
    if (intent) return [intentCause(intent.id)]
    return standingOf(this.#row.facts).approvals.map(({ ask }) => askCause(this.#row.id, ask))
  }

  #repay(credited: Euros): void {
    if (!this.#isClosed()) this.#batch.book.repayDebt(this.#row.walletId, credited, this.#cause())
  }

  #isClosed(): boolean {
    return this.#batch.wallets.get(this.#row.walletId)?.status === 'closed'
  }
}

/** What a payment is counted with. */
export type CountingBatch = Pick<CardBatch, 'payments' | 'counters' | 'agents'>

/** Counts the payment towards the limits: what is spent, less what came back, and what is still reserved. */
export function countUse(row: AuthorizationRow, standing: Standing, batch: CountingBatch): void {
  const { capturedEuros, refundedEuros } = standing
  const back = refundedEuros + returnedEuros(row.facts)
  const spent = capturedEuros > back ? capturedEuros - back : 0n
  const intent = coveringIntent(row, batch)
  if (intent) setUseOfIntent(intent, { spent, captured: capturedEuros }, row, standing, batch)
  if (intent?.cardId) return
  const ofCard = row.cardId ? [row.cardId] : []
  const subjects = intent ? ofCard : [row.agentId, ...ofCard]
  if (subjects.length === 0) return
  const first = standing.approvals.find(({ amount }) => amount > 0n)?.ask
  const causeOf = (cause: Cause): Cause => (intent ? coveredCause(cause) : cause)
  const isBegun = row.facts.begun !== undefined
  const left = { spent, captured: capturedEuros }
  for (const share of sharesOf(standing)) {
    const part = smaller(share.captured, left.spent)
    left.spent -= part
    left.captured -= share.captured
    const isUse = share.ask === first && !intent
    // What a machine payment may cost was reserved when it began, on that day: its first approval reserves nothing more.
    const cause = isBegun && share.ask === first ? aloneCause(row.id) : askCause(row.id, share.ask)
    setUse(causeOf(cause), subjects, { ...share, spent: part, isUse }, row, batch)
  }
  const none = { spent: 0n, captured: 0n }
  const [excess, alone] = first === undefined ? [none, left] : [left, none]
  const rest = { amount: excess.captured, held: 0n, isUse: false }
  setUse(causeOf(excessCause(row.id)), subjects, { ...rest, ...excess }, row, batch)
  if (isBegun && first !== undefined) return
  const { pendingEuros } = standing
  const use = { ...alone, amount: alone.captured || pendingEuros, held: pendingEuros, isUse: !intent }
  setUse(causeOf(aloneCause(row.id)), subjects, use, row, batch)
}

/**
 * What is captured is reserved no more, also where it came back before it was counted: so the reservation does not depend
 * on the order of messages.
 */
function setUseOfIntent(
  intent: IntentRow,
  paid: Paid,
  row: AuthorizationRow,
  { capturedEuros }: Standing,
  batch: CountingBatch,
): void {
  const { counters } = batch
  const cause = intentCause(intent.id)
  setSpent(cause, paid, row, batch)
  const held = intent.holdEuros ?? intent.amountEuros
  const left = held > capturedEuros ? held - capturedEuros : 0n
  const reserved = counters.reservationOf(cause)?.reserved ?? 0n
  if (reserved > left) counters.releasePart(cause, reserved - left)
}

/** What was paid, and what of it is spent: less what has come back. */
interface Paid {
  readonly captured: Euros
  readonly spent: Euros
}

interface Use extends Paid {
  readonly amount: Euros
  readonly held: Euros
  /** Whether it counts as a payment of its own. */
  readonly isUse: boolean
}

function setUse(
  cause: Cause,
  subjects: readonly string[],
  { amount, held, isUse, ...paid }: Use,
  row: AuthorizationRow,
  batch: CountingBatch,
): void {
  const { counters, agents } = batch
  if (!counters.reservationOf(cause)) {
    if (amount === 0n) return
    counters.reserve(cause, subjects, amount, agents.get(row.agentId)?.term ?? null, { isUse })
  }
  setSpent(cause, paid, row, batch)
  const reserved = counters.reservationOf(cause)?.reserved ?? 0n
  if (reserved > held) counters.releasePart(cause, reserved - held)
}

/** A payment whose money has come back stays a use, in whatever order the messages of it come. */
function setSpent(
  cause: Cause,
  { spent, captured }: Paid,
  row: AuthorizationRow,
  { counters }: CountingBatch,
): void {
  const before = counters.reservationOf(cause)?.spent ?? 0n
  if (spent > before) counters.spend(cause, spent - before, row.merchant)
  if (spent < before) counters.giveBack(cause, before - spent)
  if (counters.reservationOf(cause)) counters.noteUse(cause, captured > 0n)
}
