import type { Context } from '../../kernel/contract/context.ts'
import type { Euros } from '../../values/money.ts'
import type { Book, Cause } from '../ledger/index.ts'
import { type WalletEvent, type WalletRow, walletEvent } from '../wallets/index.ts'

type Emit = Context<never, { 'wallet.debited': typeof WalletEvent }>['emit']

/** Money from outside first pays what the owner owes the platform. */
export function repayDebt(wallet: WalletRow, credited: Euros, cause: Cause, book: Book, emit: Emit): void {
  const paid = book.repayDebt(wallet.id, credited, cause)
  if (paid > 0n) emit('wallet.debited', walletEvent(wallet, book.balance(wallet.id).posted, paid))
}
