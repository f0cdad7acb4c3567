import type { z } from 'zod'
import type { SqlContext } from '../../kernel/contract/context.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { addCents, type Cents, NO_CENTS, subtractCents } from '../../values/money.ts'
import { type AvailableBalance, type LockedBook, readWalletBalances } from '../ledger/index.ts'
import type { WalletEvent } from './api.ts'
import type { Wallet } from './wallet.ts'

export const ZERO_BALANCE: AvailableBalance = { availableCents: NO_CENTS, heldCents: NO_CENTS }

export const walletWithBalance = (wallet: Wallet, { availableCents, heldCents }: AvailableBalance) =>
  withMembers(wallet, { availableCents, heldCents })

export function balanceInBook(book: LockedBook, walletId: string): AvailableBalance {
  const { posted, held } = book.balance(walletId)
  return { availableCents: subtractCents(posted, held), heldCents: held }
}

export async function walletsWithBalances(wallets: readonly Wallet[], { sql, tenant }: SqlContext) {
  const balances = await readWalletBalances(
    sql,
    tenant,
    wallets.map(({ id }) => id),
  )
  return wallets.map(wallet => walletWithBalance(wallet, balances.get(wallet.id) ?? ZERO_BALANCE))
}

export const walletEvent = (
  { id, status }: Pick<Wallet, 'id' | 'status'>,
  balanceCents: Cents,
  amountCents?: Cents,
): z.output<typeof WalletEvent> => ({
  walletId: id,
  status,
  ...(amountCents === undefined ? {} : { amountCents }),
  balanceCents,
})

export const walletEventWithBalance = (
  wallet: Wallet,
  { availableCents, heldCents }: AvailableBalance,
): z.output<typeof WalletEvent> => walletEvent(wallet, addCents(availableCents, heldCents))
