import type { Arrived, UnmatchedReason } from '../../iso20022/credit.ts'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { numbersIn, type Payable, payableWallets } from '../wallets/index.ts'

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
  const known = {
    byIban: Map.groupBy(wallets, ({ iban }) => iban),
    byNumber: Map.groupBy(wallets, ({ number }) => number),
  }
  return arrivals.map(arrived => ({ arrived, ...placeOf(arrived, known, reach) }))
}

/** The wallets that can be meant, by what a payer may write: thousands of arrivals are looked up, not compared. */
interface Known {
  readonly byIban: ReadonlyMap<string | null, readonly Payable[]>
  readonly byNumber: ReadonlyMap<Payable['number'], readonly Payable[]>
}

/** The number of the account counts before the reference: the payer's bank has checked it. */
function placeOf(
  { iban, reference, reason }: Arrived,
  { byIban, byNumber }: Known,
  { mode, otherwise }: Reach,
): Omit<Place, 'arrived'> {
  const nowhere = (why: UnmatchedReason) => ({ tenant: otherwise, walletId: null, reason: why })
  if (reason) return nowhere(reason)
  const ofIban = iban === null ? undefined : byIban.get(iban)
  const named =
    ofIban ?? [...new Set(numbersIn(reference ?? ''))].flatMap(number => byNumber.get(number) ?? [])
  const [wallet, ...others] = named
  if (!wallet) return nowhere('no_wallet')
  if (others.length > 0) return nowhere('several_references')
  // Whether it is closed is asked again when its account is locked.
  return { tenant: { ownerId: wallet.ownerId, mode }, walletId: wallet.id, reason: 'wallet_closed' }
}
