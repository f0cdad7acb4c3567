import { findForgottenOwners } from '../../identity/customers/index.ts'
import type { ReceivedCredit, UnmatchedCreditReason } from '../../iso20022/credit.ts'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import {
  type PayableReference,
  type ResolvedReference,
  referenceNumbersIn,
  resolveReferences,
} from '../references/index.ts'
import { findPayableWallets, type PayableWallet } from '../wallets/index.ts'

export interface CreditMatchScope {
  readonly mode: Mode
  readonly ownerId?: string
  readonly fallback: Tenant
}

export interface CreditDestination {
  readonly received: ReceivedCredit
  readonly tenant: Tenant
  readonly walletId: string | null
  readonly payable: PayableReference | null
  /** The reason if it goes to suspense. The wallet may prove to be closed once its account is locked. */
  readonly reason: UnmatchedCreditReason
  readonly isMatched: boolean
}

/** Finds the destination of each credit before any account is locked. */
export async function findCreditDestinations(
  sql: Sql,
  credits: readonly ReceivedCredit[],
  scope: CreditMatchScope,
): Promise<CreditDestination[]> {
  const ibans = credits.flatMap(({ iban }) => iban ?? [])
  const numbers = credits.flatMap(({ reference }) => referenceNumbersIn(reference ?? ''))
  const [wallets, named] = await Promise.all([
    findPayableWallets(sql, scope, { ibans }),
    resolveReferences(sql, scope, numbers),
  ])
  const closed = [
    ...wallets.filter(({ status }) => status === 'closed'),
    ...named.filter(({ isClosed }) => isClosed),
  ]
  const index = {
    forgotten: await findForgottenOwners(
      sql,
      closed.map(({ ownerId }) => ownerId),
    ),
    byIban: new Map(wallets.map(wallet => [wallet.iban, wallet])),
    byNumber: new Map(named.map(reference => [reference.number, reference])),
  }
  return credits.map(received => ({ received, ...destinationOf(received, index, scope) }))
}

/** Indexes wallets by IBAN and references by number, since a file may have thousands of credits. */
interface Index {
  readonly forgotten: ReadonlySet<string>
  readonly byIban: ReadonlyMap<string | null, PayableWallet>
  readonly byNumber: ReadonlyMap<bigint, ResolvedReference>
}

interface Target extends Pick<ResolvedReference, 'ownerId' | 'walletId' | 'isClosed'> {}

/** The IBAN takes precedence over the reference, since the payer's bank has checked it. */
function destinationOf(
  { iban, reference, reason }: ReceivedCredit,
  { forgotten, byIban, byNumber }: Index,
  { mode, fallback }: CreditMatchScope,
): Omit<CreditDestination, 'received'> {
  const unmatched = (reason: UnmatchedCreditReason) => ({
    ...{ tenant: fallback, walletId: null, payable: null },
    ...{ reason, isMatched: false },
  })
  if (reason) return unmatched(reason)
  const named = referenceNumbersIn(reference ?? '').flatMap(number => byNumber.get(number) ?? [])
  const withIban = iban === null ? undefined : byIban.get(iban)
  const targets = withIban
    ? [targetOf(withIban)]
    : [...new Map(named.map(one => [one.walletId, one])).values()]
  const [target, ...others] = targets
  if (!target) return unmatched('no_wallet')
  if (others.length > 0) return unmatched('several_references')
  // The owner was erased, so nothing new is stored about them, and the money stays with the platform.
  if (forgotten.has(target.ownerId)) return unmatched('wallet_closed')
  return {
    tenant: { ownerId: target.ownerId, mode },
    walletId: target.walletId,
    payable: payableNamedInText(named, { ownerId: target.ownerId, id: target.walletId }),
    reason: 'wallet_closed',
    isMatched: !target.isClosed,
  }
}

const targetOf = ({ ownerId, id, status }: PayableWallet): Target => ({
  ...{ ownerId, walletId: id },
  isClosed: status === 'closed',
})

/**
 * The payable that the references of a text name in this wallet, or in a closed one of the same owner. If
 * they name several, the owner decides.
 */
export function payableNamedInText(
  named: readonly ResolvedReference[],
  wallet: Pick<PayableWallet, 'id' | 'ownerId'>,
): PayableReference | null {
  const isMeant = ({ walletId, ownerId, isClosed }: ResolvedReference): boolean =>
    walletId === wallet.id || (isClosed && ownerId === wallet.ownerId)
  const payables = named.flatMap(one => (isMeant(one) && one.payable ? one.payable : []))
  return payables.length === 1 ? (payables[0] ?? null) : null
}
