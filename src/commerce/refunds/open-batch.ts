import { openCounters } from '../../control/budgets/index.ts'
import { Payments } from '../../control/intents/index.ts'
import { lockSpenders } from '../../control/policies/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type Book, openBook } from '../../money/ledger/index.ts'
import { openRefunds, type Refunds } from '../../money/refunds/index.ts'
import { lockTransactions, type TransactionRow, updateTransactions } from '../../money/transactions/index.ts'
import { mainWalletId, type WalletRow, walletsById } from '../../money/wallets/index.ts'

/** How a payment was made, as far as that never changes. */
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
}

const PAID_BY = `
select t.id, t.type, t.agent_id as "agentId", t.intent_id as "intentId", t.wallet_id as "walletId",
  t.transfer_id as "transferId", x.kind, x.to_wallet_id as "toWalletId", x.credit_id as "creditId"
from transactions t
left join lateral (
  select * from transfers one where (one.owner_id, one.mode, one.id) = ($1, $2, t.transfer_id) limit 1) x on true
where t.owner_id = $1 and t.mode = $2 and t.id = any($3::text[])`

/** Payments of which something is asked back, with all that moves by it. */
export interface RefundBatch extends TenantNow {
  readonly paidBy: ReadonlyMap<string, PaidBy>
  readonly transactions: ReadonlyMap<string, TransactionRow>
  readonly payments: Payments
  readonly book: Book
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly ownersWalletId: string | undefined
  readonly refunds: Refunds
  readonly changed: Set<TransactionRow>
}

const isBetweenWallets = ({ kind, creditId }: PaidBy): boolean => kind === 'internal' && creditId === null

/** Locks in the global order: agents, counters, accounts, intents, payments. */
export async function openBatch(
  sql: Sql,
  { tenant, now }: TenantNow,
  transactionIds: readonly string[],
): Promise<RefundBatch> {
  const ids = [...new Set(transactionIds)]
  const [paid, ownersWalletId] = await Promise.all([
    sql<PaidBy>(PAID_BY, [tenant.ownerId, tenant.mode, ids]),
    mainWalletId(sql, tenant),
  ])
  const transfers = paid.filter(isBetweenWallets)
  const payments = await openPaymentsOf(sql, { tenant, now }, paid, transfers)
  const between = transfers.flatMap(({ walletId, toWalletId }) => [walletId, toWalletId ?? []].flat())
  const wallets = [...new Set(ownersWalletId && between.length > 0 ? [...between, ownersWalletId] : between)]
  const [book, rows, , transactions, refunds] = await Promise.all([
    openBook(sql, { tenant, now }, { wallets, others: wallets.length > 0 ? ['suspense'] : [] }),
    walletsById(sql, tenant, wallets),
    payments.lock(sql),
    lockTransactions(sql, tenant, ids),
    openRefunds(sql, { tenant, now }, { transactionIds: ids }),
  ])
  return {
    ...{ tenant, now, payments, book, ownersWalletId, transactions, refunds },
    paidBy: new Map(paid.map(one => [one.id, one])),
    wallets: rows,
    changed: new Set(),
  }
}

/** Payments by card move under the lock of their agent, so it is taken for them as well; counters only where money moves. */
async function openPaymentsOf(
  sql: Sql,
  tenantNow: TenantNow,
  paid: readonly PaidBy[],
  transfers: readonly PaidBy[],
): Promise<Payments> {
  const agentIds = paid.flatMap(({ type, agentId }) => (agentId && type !== 'collect' ? [agentId] : []))
  const intentIds = transfers.flatMap(({ intentId }) => intentId ?? [])
  if (agentIds.length === 0) return new Payments(tenantNow, [])
  const agents = await lockSpenders(sql, tenantNow.tenant, agentIds)
  if (intentIds.length === 0) return new Payments(tenantNow, [])
  const causes = intentIds.map(id => ({ type: 'intent', id }))
  const counters = await openCounters(sql, tenantNow, { causes, agents: [...agents.keys()] })
  return new Payments(tenantNow, intentIds, { agents, counters })
}

/** Writes what was decided, each table in one statement. */
export async function writeBatch(
  { tenant, changed, payments, refunds, book }: RefundBatch,
  sql: Sql,
): Promise<void> {
  await Promise.all([
    updateTransactions(sql, tenant, [...changed]),
    refunds.write(sql),
    payments.write(sql),
    book.post(sql),
  ])
}
