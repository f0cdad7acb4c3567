import type { z } from 'zod'
import type { Context } from '../../kernel/contract/context.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { type Cents, minus, NO_CENTS, plus } from '../../values/money.ts'
import { type Balance, type Book, balancesOf } from '../ledger/index.ts'
import type { WalletEvent } from './api.ts'
import type { Wallet } from './wallet.ts'

export const EMPTY: Balance = { availableCents: NO_CENTS, heldCents: NO_CENTS }

export const withBalance = (wallet: Wallet, { availableCents, heldCents }: Balance) =>
  withMembers(wallet, { availableCents, heldCents })

export function balanceIn(book: Book, walletId: string): Balance {
  const { posted, held } = book.balance(walletId)
  return { availableCents: minus(posted, held), heldCents: held }
}

export async function withBalances(
  wallets: readonly Wallet[],
  { sql, tenant }: Pick<Context, 'sql' | 'tenant'>,
) {
  const balances = await balancesOf(
    sql,
    tenant,
    wallets.map(({ id }) => id),
  )
  return wallets.map(wallet => withBalance(wallet, balances.get(wallet.id) ?? EMPTY))
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

export const eventWithBalance = (
  wallet: Wallet,
  { availableCents, heldCents }: Balance,
): z.output<typeof WalletEvent> => walletEvent(wallet, plus(availableCents, heldCents))
