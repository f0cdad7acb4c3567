import type { ReceivedCredit } from '../../iso20022/credit.ts'
import type { Cents } from '../../values/money.ts'
import { ACQUIRER_ACCOUNTS, type Book, type Cause, DEBT_ACCOUNTS, postCollected } from '../ledger/index.ts'
import { type WalletRow, walletEvent } from '../wallets/index.ts'
import { enterSuspense, type Receiving, repayDebt } from './receive.ts'

export const accountsToCollect = (...walletIds: readonly string[]) =>
  ({
    wallets: walletIds,
    others: [...ACQUIRER_ACCOUNTS, 'suspense'],
    ifExists: DEBT_ACCOUNTS,
  }) as const

interface Charge {
  readonly amountCents: Cents
  readonly cause: Cause
  readonly reference: string | null
}

/**
 * Credits a wallet with an acquirer's charge of a payer's card. For a closed wallet, the money stays on the
 * owner's suspense account until it is assigned.
 */
export function collectCharge(
  wallet: WalletRow,
  { amountCents, cause, reference }: Charge,
  book: Book,
  context: Omit<Receiving, 'sql' | 'queueStatement'>,
): void {
  if (wallet.status === 'closed') {
    enterSuspense(receivedOf({ amountCents, cause, reference }, context.now), 'wallet_closed', book, context)
    return
  }
  postCollected('collect', { from: 'clearing_acquirer', to: wallet.id, amountCents, cause }, book)
  context.emit('wallet.credited', walletEvent(wallet, book.balance(wallet.id).posted, amountCents))
  repayDebt(wallet, amountCents, cause, book, context.emit)
}

const receivedOf = ({ amountCents, cause, reference }: Charge, now: Date): ReceivedCredit => ({
  ...{ amountCents, reference, source: 'acquirer', origin: 'acquirer', bankReference: cause.id, part: 0 },
  ...{ iban: null, senderName: null, senderIban: null, endToEndId: null, reason: null },
  valueDate: now.toISOString().slice(0, 10),
})

/**
 * Debits a wallet for the acquirer's refund to the payer's card. The caller first checks in the book whether
 * the wallet can pay.
 */
export function refundCharge(
  wallet: WalletRow,
  { amountCents, cause }: Omit<Charge, 'reference'>,
  book: Book,
  { emit }: Pick<Receiving, 'emit'>,
): void {
  postCollected('collect_refund', { from: wallet.id, to: 'clearing_acquirer', amountCents, cause }, book)
  emit('wallet.debited', walletEvent(wallet, book.balance(wallet.id).posted, amountCents))
}

export const settleCharge = ({ amountCents, cause }: Omit<Charge, 'reference'>, book: Book): void =>
  postCollected('collect_settle', { from: 'bank', to: 'clearing_acquirer', amountCents, cause }, book)
