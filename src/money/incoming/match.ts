import type { ReceivedCredit, UnmatchedReason } from '../../iso20022/credit.ts'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type PayableWallet, payableWallets, walletNumbersIn } from '../wallets/index.ts'

/** The wallets that credits may be for, and the tenant who gets those for none of them. */
export interface MatchScope {
  readonly mode: Mode
  readonly ownerId?: string
  readonly fallback: Tenant
}

/** Where a credit goes: to a wallet, or with the reason to the tenant's suspense account. */
export interface Destination {
  readonly received: ReceivedCredit
  readonly tenant: Tenant
  readonly walletId: string | null
  /** Why it goes to suspense, if it does: the wallet may turn out to be closed once its account is locked. */
  readonly reason: UnmatchedReason
  /** Whether it is for an open wallet. */
  readonly isMatched: boolean
}

/** Finds the destination of each credit, before any account is locked. */
export async function destinationsOf(
  sql: Sql,
  credits: readonly ReceivedCredit[],
  scope: MatchScope,
): Promise<Destination[]> {
  const ibans = credits.flatMap(({ iban }) => iban ?? [])
  const numbers = credits.flatMap(({ reference }) => walletNumbersIn(reference ?? ''))
  const wallets = await payableWallets(sql, scope, { ibans, numbers })
  const index = {
    byIban: Map.groupBy(wallets, ({ iban }) => iban),
    byNumber: Map.groupBy(wallets, ({ number }) => number),
  }
  return credits.map(received => ({ received, ...destinationOf(received, index, scope) }))
}

/** Wallets by IBAN and by reference number: a file may have thousands of credits to look up. */
interface WalletIndex {
  readonly byIban: ReadonlyMap<string | null, readonly PayableWallet[]>
  readonly byNumber: ReadonlyMap<PayableWallet['number'], readonly PayableWallet[]>
}

/** The IBAN takes precedence over the reference, since the payer's bank has checked it. */
function destinationOf(
  { iban, reference, reason }: ReceivedCredit,
  { byIban, byNumber }: WalletIndex,
  { mode, fallback }: MatchScope,
): Omit<Destination, 'received'> {
  const unmatched = (reason: UnmatchedReason) => ({
    tenant: fallback,
    walletId: null,
    reason,
    isMatched: false,
  })
  if (reason) return unmatched(reason)
  const withIban = iban === null ? undefined : byIban.get(iban)
  const byReference = () => walletNumbersIn(reference ?? '').flatMap(number => byNumber.get(number) ?? [])
  const [wallet, ...others] = withIban ?? byReference()
  if (!wallet) return unmatched('no_wallet')
  if (others.length > 0) return unmatched('several_references')
  const tenant = { ownerId: wallet.ownerId, mode }
  return { tenant, walletId: wallet.id, reason: 'wallet_closed', isMatched: wallet.status !== 'closed' }
}
