import { lockAgents } from '../../control/agents/index.ts'
import { type BudgetCounters, openCounters } from '../../control/budgets/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type Book, openBook } from '../../money/ledger/index.ts'
import { openRefunds, type Refunds } from '../../money/refunds/index.ts'
import { lockTransactions, type TransactionRow, updateRefunded } from '../../money/transactions/index.ts'
import { mainWalletId, type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { type PushablePayment, pushableOf } from './push.ts'

/** How a payment was made, as far as that never changes, save whether the wallet that had paid is closed by now. */
export interface PaidBy extends Row {
  readonly id: string
  readonly type: TransactionRow['type']
  readonly agentId: string | null
  readonly intentId: string | null
  readonly walletId: string
  readonly transferId: string | null
  readonly kind: 'internal' | 'sepa' | 'split' | null
  readonly toWalletId: string | null
  /** The credit by which the holder of a request or a token was paid. */
  readonly creditId: string | null
  readonly isPayerClosed: boolean
}

const PAID_BY = `
select t.id, t.type, t.agent_id as "agentId", t.intent_id as "intentId", t.wallet_id as "walletId",
  t.transfer_id as "transferId", x.kind, x.to_wallet_id as "toWalletId", x.credit_id as "creditId",
  coalesce(w.status = 'closed', false) as "isPayerClosed"
from transactions t
left join lateral (
  select * from transfers one where (one.owner_id, one.mode, one.id) = ($1, $2, t.transfer_id) limit 1) x on true
left join lateral (
  select one.status from wallets one where (one.owner_id, one.mode, one.id) = ($1, $2, t.wallet_id) limit 1) w on true
where t.owner_id = $1 and t.mode = $2 and t.id = any($3::text[])`

/** Payments of which something is asked back, with all that moves by it. */
export interface RefundBatch extends TenantNow {
  readonly paidBy: ReadonlyMap<string, PaidBy>
  readonly transactions: ReadonlyMap<string, TransactionRow>
  /** Undefined where nothing goes back of what was paid on an intent. */
  readonly counters: BudgetCounters | undefined
  readonly book: Book
  readonly wallets: ReadonlyMap<string, WalletRow>
  /** Where money goes whose wallet is closed; undefined where no wallet was, or the owner has none. */
  readonly ownersWalletId: string | undefined
  /** Whether money may go elsewhere than where it came from. */
  readonly isAnyPayerClosed: boolean
  readonly refunds: Refunds
  /** The payments by card whose merchants the processor can ask. */
  readonly pushable: ReadonlyMap<string, PushablePayment>
  readonly changed: Set<TransactionRow>
}

const isBetweenWallets = ({ kind, creditId }: PaidBy): boolean => kind === 'internal' && creditId === null

/**
 * Locks in the global order, by one round trip: agents, counters, accounts, payments. The owner's wallet and suspense are
 * locked only where a wallet is closed, so that refunds of one owner do not wait for each other.
 */
export async function openBatch(
  sql: Sql,
  { tenant, now, ports }: TenantNow & { readonly ports: Ports },
  transactionIds: readonly string[],
): Promise<RefundBatch> {
  const ids = [...new Set(transactionIds)]
  const paid = await sql<PaidBy>(PAID_BY, [tenant.ownerId, tenant.mode, ids])
  const transfers = paid.filter(isBetweenWallets)
  const isAnyPayerClosed = transfers.some(({ isPayerClosed }) => isPayerClosed)
  const ownersWalletId = isAnyPayerClosed ? await mainWalletId(sql, tenant) : undefined
  const byCard = paid.filter(({ type }) => type === 'card' || type === 'mpp')
  const causes = transfers.flatMap(({ intentId }) => (intentId ? [intentCause(intentId)] : []))
  const between = transfers.flatMap(({ walletId, toWalletId }) => [walletId, toWalletId ?? []].flat())
  const wallets = [...new Set([...between, ownersWalletId ?? []].flat())]
  const [, counters, book, rows, transactions, refunds, pushable] = await Promise.all([
    // Only payments by card move under the lock of their agent: others move under that of their counters.
    lockAgents(sql, tenant, agentsOf(byCard)),
    causes.length > 0
      ? openCounters(sql, { tenant, now }, { causes, agents: agentsOf(transfers) })
      : undefined,
    openBook(sql, { tenant, now }, { wallets, others: isAnyPayerClosed ? ['suspense'] : [] }),
    walletsById(sql, tenant, wallets),
    lockTransactions(sql, tenant, ids),
    openRefunds(sql, { tenant, now }, { transactionIds: ids }),
    pushableOf(
      sql,
      tenant,
      byCard.map(({ id }) => id),
      ports,
    ),
  ])
  return {
    ...{ tenant, now, counters, book, ownersWalletId, isAnyPayerClosed, transactions, refunds, pushable },
    paidBy: new Map(paid.map(one => [one.id, one])),
    wallets: rows,
    changed: new Set(),
  }
}

const agentsOf = (payments: readonly PaidBy[]): string[] => payments.flatMap(({ agentId }) => agentId ?? [])

/** What a payment on an intent was counted under. */
export const intentCause = (id: string) => ({ type: 'intent', id })

/** Writes what was decided, each table in one statement. */
export async function writeBatch(
  { tenant, changed, counters, refunds, book }: RefundBatch,
  sql: Sql,
): Promise<void> {
  await Promise.all([
    updateRefunded(sql, tenant, [...changed]),
    refunds.write(sql),
    counters?.write(sql),
    book.post(sql),
  ])
}
