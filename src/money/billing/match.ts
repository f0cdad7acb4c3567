import type { Mode, Tenant } from '../../kernel/context.ts'
import type { Sql } from '../../kernel/database.ts'
import { type Payable, payableWallets } from '../wallets/wallets.ts'
import type { Arrived, UnmatchedReason } from './incoming-credit.ts'
import { numbersIn } from './reference.ts'

/** Whose wallets money may be meant for, and on whose ledger it lies where it is for none of them. */
export interface Reach {
  readonly mode: Mode
  readonly ownerId?: string
  readonly otherwise: Tenant
}

/** Where money goes: into a wallet, or onto the suspense account of this tenant. */
export interface Place {
  readonly arrived: Arrived
  readonly tenant: Tenant
  readonly walletId: string | null
  readonly reason: UnmatchedReason
}

/** Where each of these goes, as far as it can be told before anything is locked. */
export async function match(sql: Sql, arrivals: readonly Arrived[], reach: Reach): Promise<Place[]> {
  const ibans = arrivals.flatMap(({ iban }) => iban ?? [])
  const numbers = arrivals.flatMap(({ reference }) => numbersIn(reference ?? ''))
  const wallets = await payableWallets(sql, reach, { ibans, numbers })
  return arrivals.map(arrived => ({ arrived, ...placeOf(arrived, wallets, reach) }))
}

/** The number of the account counts before the reference: the payer's bank has checked it. */
function placeOf(
  { iban, reference, reason }: Arrived,
  wallets: readonly Payable[],
  { mode, otherwise }: Reach,
): Omit<Place, 'arrived'> {
  const nowhere = (why: UnmatchedReason) => ({ tenant: otherwise, walletId: null, reason: why })
  if (reason) return nowhere(reason)
  const numbers = numbersIn(reference ?? '')
  const byIban = wallets.filter(wallet => wallet.iban !== null && wallet.iban === iban)
  const named = byIban.length > 0 ? byIban : wallets.filter(({ number }) => numbers.includes(number))
  const [wallet, ...others] = named
  if (!wallet) return nowhere('no_wallet')
  if (others.length > 0) return nowhere('several_references')
  // Whether it is closed is asked again when its account is locked.
  return { tenant: { ownerId: wallet.ownerId, mode }, walletId: wallet.id, reason: 'wallet_closed' }
}
