import type { PostingCause } from '../../money/ledger/index.ts'
import { firstOpenWallet } from '../../money/wallets/index.ts'
import {
  addCents,
  type Cents,
  minOf,
  NO_CENTS,
  remainderOf,
  subtractCents,
  sumOf,
} from '../../values/money.ts'
import {
  type CaptureAccounts,
  coveringIntent,
  type FactEvidence,
  type HoldAccounts,
  type PaymentAccounts,
  type PaymentBatch,
} from './channel.ts'
import {
  type ApprovalShare,
  intentHoldReference,
  type MoneyChange,
  type Payment,
  unchargedPostingReference,
} from './payment.ts'

/** The wallet that gets a refund: the payer's, or the owner's main wallet if that is closed; null for suspense. */
export const refundWalletId = (
  { walletId }: Pick<Payment, 'walletId'>,
  { wallets, ownersWalletId }: Pick<PaymentBatch, 'wallets' | 'ownersWalletId'>,
): string | null => firstOpenWallet([walletId, ownersWalletId], wallets)

/** Moves the money of one payment. Facts are never refused: what neither hold nor wallet covers becomes the owner's debt. */
export class PaymentMoney {
  readonly #payment: Payment
  readonly #holdReference: HoldAccounts['holdReference']
  readonly #batch: PaymentBatch
  readonly #next: () => PostingCause

  constructor(
    payment: Payment,
    { holdReference }: HoldAccounts,
    batch: PaymentBatch,
    { nextPosting }: FactEvidence,
  ) {
    this.#payment = payment
    this.#holdReference = holdReference
    this.#batch = batch
    this.#next = nextPosting
  }

  /** Posts all that a fact changes. */
  move(
    { captureCents, undoCents, settleCents, refundCents, shares }: MoneyChange,
    to: PaymentAccounts,
  ): void {
    if (this.#isUncharged()) this.#charge(undoCents, settleCents, to)
    else if (captureCents > 0n && !(settleCents === 0n && this.#keepUncharged(captureCents, shares)))
      this.capture(captureCents, shares, to)
    else if (undoCents > 0n) this.#undo(undoCents, to)
    if (settleCents > 0n) this.#settle(settleCents, to)
    if (refundCents > 0n) this.#refund(refundCents, to)
    this.hold(shares)
  }

  /**
   * Takes from the holds first, then from the wallet, in one posting: a statement shows each as a movement, with the
   * rate that was charged.
   */
  capture(amount: Cents, shares: readonly ApprovalShare[], { clearing, postings }: CaptureAccounts): void {
    const { book } = this.#batch
    const holds = this.#openHolds(shares)
    const [first] = holds
    if (first && amount <= book.heldFor(first)) {
      book.capture(postings.capture, first, clearing, amount, this.#next())
      return
    }
    this.#release(holds, amount)
    book.forceDebit(postings.capture, this.#payment.walletId, clearing, amount, this.#next())
  }

  /**
   * A price in another currency is confirmed before its euros are known: they stay held until the network charges them,
   * so that they are booked once. False if they cannot be held.
   */
  #keepUncharged(amount: Cents, shares: readonly ApprovalShare[]): boolean {
    const { book } = this.#batch
    const { walletId, facts } = this.#payment
    const holds = this.#openHolds(shares)
    const canHold = addCents(book.available(walletId), sumOf(holds.map(hold => book.heldFor(hold)))) >= amount
    const isKept = facts.initiatedOriginal !== undefined && !book.hasHeld(this.#uncharged) && canHold
    if (!isKept || book.isFrozen(walletId) || this.#isClosed()) return false
    this.#release(holds, amount)
    book.hold(walletId, amount, this.#uncharged)
    return true
  }

  #isUncharged(): boolean {
    return this.#batch.book.heldFor(this.#uncharged) > 0n
  }

  /** Frees what will not be charged, and takes what the network has charged. */
  #charge(undoCents: Cents, chargedCents: Cents, { clearing, postings }: PaymentAccounts): void {
    const { book } = this.#batch
    const { walletId } = this.#payment
    const held = this.#uncharged
    if (chargedCents > book.heldFor(held)) {
      this.#release([held], chargedCents)
      book.forceDebit(postings.capture, walletId, clearing, chargedCents, this.#next())
    } else if (chargedCents > 0n) book.capture(postings.capture, held, clearing, chargedCents, this.#next())
    const freed = book.releasePart(held, undoCents, this.#next())
    if (freed > 0n) this.#repay(freed)
  }

  #undo(amount: Cents, { clearing, postings }: PaymentAccounts): void {
    const { book } = this.#batch
    if (this.#isClosed()) book.move(postings.undoUnmatched, clearing, 'suspense', amount, this.#next())
    else {
      book.move(postings.undo, clearing, this.#payment.walletId, amount, this.#next())
      this.#repay(amount)
    }
  }

  #settle(amount: Cents, { clearing, postings }: PaymentAccounts): void {
    this.#batch.book.move(postings.settle, clearing, 'bank', amount, this.#next())
  }

  #refund(amount: Cents, { postings }: PaymentAccounts): void {
    const { book } = this.#batch
    const walletId = refundWalletId(this.#payment, this.#batch)
    if (walletId === null) book.move(postings.refundUnmatched, 'bank', 'suspense', amount, this.#next())
    else {
      book.move(postings.refund, 'bank', walletId, amount, this.#next())
      book.repayDebt(walletId, amount, this.#next())
    }
  }

  /**
   * Holds each share as far as there is money (the processor may have approved on the service's behalf), and
   * releases the rest of each hold. Debts are repaid from that first. An intent holds the money of its payment itself.
   */
  hold(shares: readonly ApprovalShare[]): void {
    if (coveringIntent(this.#payment, this.#batch)) return
    const { book } = this.#batch
    let freed: Cents = NO_CENTS
    for (const { increment, approvedCents, heldCents } of shares) {
      const hold = this.#holdReference(this.#payment.id, increment)
      const excess = remainderOf(book.heldFor(hold), heldCents)
      if (excess > 0n) freed = addCents(freed, book.releasePart(hold, excess, this.#next()))
      if (!book.hasHeld(hold) && heldCents > 0n && approvedCents > 0n) this.#hold(hold, heldCents)
    }
    if (freed > 0n) this.#repay(freed)
  }

  #hold(hold: PostingCause, wanted: Cents): void {
    const { book } = this.#batch
    const { walletId } = this.#payment
    const part = minOf(wanted, book.available(walletId))
    if (part > 0n && !book.isFrozen(walletId) && !this.#isClosed()) book.hold(walletId, part, hold)
  }

  get #uncharged(): PostingCause {
    return unchargedPostingReference(this.#payment.id)
  }

  #release(holds: readonly PostingCause[], amount: Cents): void {
    let left = amount
    for (const hold of holds)
      left = subtractCents(left, this.#batch.book.releasePart(hold, left, this.#next()))
  }

  #openHolds(shares: readonly ApprovalShare[]): PostingCause[] {
    return this.#holds(shares).filter(hold => this.#batch.book.heldFor(hold) > 0n)
  }

  #holds(shares: readonly ApprovalShare[]): PostingCause[] {
    const intent = coveringIntent(this.#payment, this.#batch)
    if (intent) return [intentHoldReference(intent.id)]
    return shares.map(({ increment }) => this.#holdReference(this.#payment.id, increment))
  }

  #repay(credited: Cents): void {
    if (!this.#isClosed()) this.#batch.book.repayDebt(this.#payment.walletId, credited, this.#next())
  }

  #isClosed(): boolean {
    return this.#batch.wallets.get(this.#payment.walletId)?.status === 'closed'
  }
}
