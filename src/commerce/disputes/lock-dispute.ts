import { Agent } from '../../control/agents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'
import { type Book, openBook } from '../../money/ledger/index.ts'
import { Transaction } from '../../money/transactions/index.ts'
import { mainWallet, walletsById } from '../../money/wallets/index.ts'
import { Dispute } from './dispute.ts'
import { type CreditTo, DISPUTE_ACCOUNTS } from './money/move-money.ts'

export type Locking = Pick<Context, 'records' | 'sql' | 'tenant' | 'now'>

/** A dispute with all that changes with it, locked until the transaction ends. */
export interface LockedDispute {
  readonly dispute: Dispute
  readonly transaction: Transaction
  readonly book: Book
  readonly creditTo: CreditTo
}

/** Agent and transaction of a dispute never change. */
const agentOf = ({ ownerId, mode }: Context['tenant'], disputeId: string) =>
  sqlCondition('id = (select d.agent_id from disputes d where (d.owner_id, d.mode, d.id) = (?, ?, ?))', [
    ownerId,
    mode,
    disputeId,
  ])

/** Locks the agent first, as every change of a dispute and of its payment does, then the accounts, then the records. */
export async function lockDispute(id: string, context: Locking): Promise<LockedDispute | null> {
  const { records, tenant } = context
  const [, known, main] = await Promise.all([
    records.findOne(Agent, agentOf(tenant, id), { lock: true }),
    records.findOne(Dispute, { id }),
    mainWallet(context),
  ])
  if (!known) return null
  const [place, transaction, dispute] = await Promise.all([
    openAccounts(known, main?.id ?? null, context),
    records.lock(Transaction, known.transactionId),
    records.lock(Dispute, id),
  ])
  return transaction && dispute && { ...place, transaction, dispute }
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
