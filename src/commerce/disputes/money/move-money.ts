import type { AccountKey, Book, Cause } from '../../../money/ledger/index.ts'
import type { Euros } from '../../../values/money.ts'
import type { Dispute } from '../dispute.ts'
import type { Money } from './standing.ts'

/** The accounts, beside the wallets, that the money of a dispute moves between. */
export const DISPUTE_ACCOUNTS = ['bank', 'advance', 'receivable', 'suspense', 'disputes', 'losses'] as const

/** Where the owner is credited: an open wallet, or suspense where there is none. */
export type CreditTo = string | null

/** What the platform has laid out or lost: it advances as much to the bank, so that the bank covers all wallets. */
const advanced = ({ creditedEuros, recoveredEuros }: Money): Euros =>
  creditedEuros > recoveredEuros ? creditedEuros - recoveredEuros : 0n

/**
 * Moves the money of a dispute from how it stands to how it should stand. Advances come first, so that the bank never lacks
 * what the network takes back, and go back last.
 */
export function moveMoney(dispute: Dispute, to: Money, creditTo: CreditTo, book: Book): void {
  const money = new DisputeMoney(dispute, creditTo, book)
  const advance = advanced(to) - advanced(dispute)
  if (advance > 0n) money.move('advance', 'bank', 'advance', advance)
  const credited = to.creditedEuros - dispute.creditedEuros
  if (credited > 0n) money.credit(credited)
  if (credited < 0n) money.takeBack(-credited)
  const recovered = to.recoveredEuros - dispute.recoveredEuros
  if (recovered > 0n) money.move('dispute_won', 'bank', 'disputes', recovered)
  if (recovered < 0n) money.move('dispute_reversed', 'disputes', 'bank', -recovered)
  const lost = to.lostEuros - dispute.lostEuros
  if (lost > 0n) money.move('dispute_loss', 'losses', 'disputes', lost)
  if (lost < 0n) money.move('dispute_loss_recovered', 'disputes', 'losses', -lost)
  if (advance < 0n) money.move('advance_return', 'advance', 'bank', -advance)
  const { creditedEuros, recoveredEuros, lostEuros } = to
  Object.assign(dispute, { creditedEuros, recoveredEuros, lostEuros })
}

class DisputeMoney {
  readonly #dispute: Dispute
  readonly #creditTo: CreditTo
  readonly #book: Book

  constructor(dispute: Dispute, creditTo: CreditTo, book: Book) {
    this.#dispute = dispute
    this.#creditTo = creditTo
    this.#book = book
  }

  /** The dispute stands first in it: a statement finds the merchant by that. */
  #cause(): Cause {
    return { type: 'dispute', id: `${this.#dispute.id}/${this.#dispute.postings++}` }
  }

  move(kind: Parameters<Book['move']>[0], from: AccountKey, to: AccountKey, amount: Euros): void {
    this.#book.move(kind, from, to, amount, this.#cause())
  }

  /** What the owner owes is paid out of it first. */
  credit(amount: Euros): void {
    const to = this.#creditTo
    if (to === null) this.move('dispute_credit_unmatched', 'disputes', 'suspense', amount)
    else {
      this.move('dispute_credit', 'disputes', to, amount)
      this.#book.repayDebt(to, amount, this.#cause())
    }
    this.#dispute.creditedWalletId = to
  }

  /** Out of the wallet into which it went; what that one lacks the owner owes. */
  takeBack(amount: Euros): void {
    const from = this.#dispute.creditedWalletId
    if (from === null)
      this.#book.forceDebit('dispute_lost_unmatched', 'suspense', 'disputes', amount, this.#cause())
    else this.#book.forceDebit('dispute_lost', from, 'disputes', amount, this.#cause())
  }
}
