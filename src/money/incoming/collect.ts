import type { ReceivedCredit } from '../../iso20022/credit.ts'
import type { EmitContext } from '../../kernel/contract/context.ts'
import { type Cents, subtractCents } from '../../values/money.ts'
import {
  ACQUIRER_ACCOUNTS,
  DEBT_ACCOUNTS,
  type LockedBook,
  type PostingCause,
  postAcquirerChargeback,
  postAcquirerMovement,
} from '../ledger/index.ts'
import { type WalletRow, walletEvent } from '../wallets/index.ts'
import type { incomingCreditEvents } from './api.ts'
import { type CreditRecordContext, recordSuspenseCredit, repayWalletDebt } from './receive.ts'

export const acquirerCreditAccounts = (...walletIds: readonly string[]) =>
  ({
    wallets: walletIds,
    others: [...ACQUIRER_ACCOUNTS, 'suspense'],
    ifExists: DEBT_ACCOUNTS,
  }) as const

interface Charge {
  readonly amountCents: Cents
  readonly cause: PostingCause
  readonly reference: string | null
}

/**
 * Credits a wallet with an acquirer's charge of a payer's card. For a closed wallet, the money stays on the
 * owner's suspense account until it is assigned.
 */
export function creditAcquirerCharge(
  wallet: WalletRow,
  { amountCents, cause, reference }: Charge,
  book: LockedBook,
  context: CreditRecordContext,
): void {
  if (wallet.status === 'closed') {
    recordSuspenseCredit(
      receivedOf({ amountCents, cause, reference }, context.now),
      'wallet_closed',
      book,
      context,
    )
    return
  }
  postAcquirerMovement('collect', { from: 'clearing_acquirer', to: wallet.id, amountCents, cause }, book)
  context.emit('wallet.credited', walletEvent(wallet, book.balance(wallet.id).posted, amountCents))
  repayWalletDebt(wallet, amountCents, cause, book, context.emit)
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
export function refundAcquirerCharge(
  wallet: WalletRow,
  { amountCents, cause }: Omit<Charge, 'reference'>,
  book: LockedBook,
  { emit }: EmitContext<typeof incomingCreditEvents>,
): void {
  postAcquirerMovement(
    'collect_refund',
    { from: wallet.id, to: 'clearing_acquirer', amountCents, cause },
    book,
  )
  emit('wallet.debited', walletEvent(wallet, book.balance(wallet.id).posted, amountCents))
}

export const chargebackAccounts = (walletId: string) =>
  ({ ...acquirerCreditAccounts(walletId), others: [...ACQUIRER_ACCOUNTS, 'suspense', 'receivable'] }) as const

/** The payer’s bank has taken a charge back. What the wallet no longer has, its owner owes. Holds stay. */
export function chargeBackAcquirerCharge(
  wallet: WalletRow,
  { amountCents, cause }: Omit<Charge, 'reference'>,
  book: LockedBook,
  { emit }: EmitContext<typeof incomingCreditEvents>,
): void {
  const owed = postAcquirerChargeback({ from: wallet.id, amountCents, cause }, book)
  const taken = subtractCents(amountCents, owed)
  if (taken > 0n) emit('wallet.debited', walletEvent(wallet, book.balance(wallet.id).posted, taken))
}

export const settleAcquirerCharge = (
  { amountCents, cause }: Omit<Charge, 'reference'>,
  book: LockedBook,
): void =>
  postAcquirerMovement('collect_settle', { from: 'bank', to: 'clearing_acquirer', amountCents, cause }, book)
