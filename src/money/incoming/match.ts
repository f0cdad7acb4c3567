import type { ReceivedCredit, UnmatchedReason } from '../../iso20022/credit.ts'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type PayableWallet, payableWallets, walletNumbersIn } from '../wallets/index.ts'

/** Whose wallets money may be meant for, and on whose ledger it lies where it is for none of them. */
export interface MatchScope {
  readonly mode: Mode
  readonly ownerId?: string
  readonly fallback: Tenant
}

/** Where money goes: into a wallet, or onto the suspense account of this tenant. */
export interface Destination {
  readonly arrived: ReceivedCredit
  readonly tenant: Tenant
  readonly walletId: string | null
  readonly reason: UnmatchedReason
}

/** Where each of these goes, as far as it can be told before anything is locked. */
export async function destinationsOf(
  sql: Sql,
  arrivals: readonly ReceivedCredit[],
  reach: MatchScope,
): Promise<Destination[]> {
  const ibans = arrivals.flatMap(({ iban }) => iban ?? [])
  const numbers = arrivals.flatMap(({ reference }) => walletNumbersIn(reference ?? ''))
  const wallets = await payableWallets(sql, reach, { ibans, numbers })
  const known = {
    byIban: Map.groupBy(wallets, ({ iban }) => iban),
    byNumber: Map.groupBy(wallets, ({ number }) => number),
  }
  return arrivals.map(arrived => ({ arrived, ...destinationOf(arrived, known, reach) }))
}

/** The wallets that can be meant, by what a payer may write: thousands of arrivals are looked up, not compared. */
interface WalletIndex {
  readonly byIban: ReadonlyMap<string | null, readonly PayableWallet[]>
  readonly byNumber: ReadonlyMap<PayableWallet['number'], readonly PayableWallet[]>
}

/** The number of the account counts before the reference: the payer's bank has checked it. */
function destinationOf(
  { iban, reference, reason }: ReceivedCredit,
  { byIban, byNumber }: WalletIndex,
  { mode, fallback: otherwise }: MatchScope,
): Omit<Destination, 'arrived'> {
  const nowhere = (why: UnmatchedReason) => ({ tenant: otherwise, walletId: null, reason: why })
  if (reason) return nowhere(reason)
  const ofIban = iban === null ? undefined : byIban.get(iban)
  const named =
    ofIban ?? [...new Set(walletNumbersIn(reference ?? ''))].flatMap(number => byNumber.get(number) ?? [])
  const [wallet, ...others] = named
  if (!wallet) return nowhere('no_wallet')
  if (others.length > 0) return nowhere('several_references')
  // Whether it is closed is asked again when its account is locked.
  return { tenant: { ownerId: wallet.ownerId, mode }, walletId: wallet.id, reason: 'wallet_closed' }
}
