import {
  authorizationsOfTransactions,
  type DisputeCredits,
  openDisputeCredits,
} from '../../cards/authorizations/index.ts'
import { Agent } from '../../control/agents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { type Book, openBook } from '../../money/ledger/index.ts'
import { askedBack } from '../../money/refunds/index.ts'
import { Transaction } from '../../money/transactions/index.ts'
import { mainWallet, walletsById } from '../../money/wallets/index.ts'
import { Dispute } from './dispute.ts'
import { type CreditTo, DISPUTE_ACCOUNTS } from './money/move-money.ts'

export type Locking = Pick<Context, 'records' | 'sql' | 'tenant' | 'now'>

/** A dispute with all that changes with it, locked until the transaction ends. */
export interface LockedDispute {
  readonly dispute: Dispute
  readonly transaction: Transaction
  /** What has come back of it for refunds that were asked for. */
  readonly askedEuros: bigint
  /** What it gives back in the limits of the payment; null where there is nothing of that. */
  readonly returned: DisputeCredits | null
  readonly book: Book
  readonly creditTo: CreditTo
}

/**
 * Locks the agent first, as every change of a dispute and of its payment does, then the counters, the accounts and the
 * records. Agent and transaction of a dispute never change, so they are read before.
 */
export async function lockDispute(id: string, context: Locking): Promise<LockedDispute | null> {
  const { records, sql, tenant, now } = context
  const [known, main] = await Promise.all([records.findOne(Dispute, { id }), mainWallet(context)])
  if (!known) return null
  const { agentId, transactionId } = known
  const [, [payment]] = await Promise.all([
    agentId === null ? null : records.lock(Agent, agentId),
    authorizationsOfTransactions(sql, tenant, [transactionId]),
  ])
  const [returned, place, transaction, dispute, askedEuros] = await Promise.all([
    openDisputeCredits(sql, { tenant, now }, payment),
    openAccounts(known, main?.id ?? null, context),
    records.lock(Transaction, transactionId),
    records.lock(Dispute, id),
    askedBack(sql, tenant, transactionId),
  ])
  return transaction && dispute && { ...place, returned, transaction, dispute, askedEuros }
}

interface Paid {
  readonly walletId: string
  readonly creditedWalletId: string | null
}

/** Opens the book, and finds where the owner is credited: the wallet that has paid, else the main one, else none. */
export async function openAccounts(
  { walletId, creditedWalletId }: Paid,
  mainId: string | null,
  { sql, tenant, now }: Locking,
): Promise<Pick<LockedDispute, 'book' | 'creditTo'>> {
  const ids = [walletId, mainId, creditedWalletId].flatMap(id => id ?? [])
  const [book, wallets] = await Promise.all([
    openBook(sql, { tenant, now }, { wallets: ids, others: DISPUTE_ACCOUNTS }),
    walletsById(sql, tenant, ids),
  ])
  const open = [walletId, mainId].find(id => id !== null && isOpen(wallets.get(id)))
  return { book, creditTo: open ?? null }
}

const isOpen = (wallet: { readonly status: string } | undefined): boolean =>
  wallet !== undefined && wallet.status !== 'closed'
