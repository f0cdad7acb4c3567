import { openTokenBudgets, type TokenBudgets } from '../../control/agent-tokens/index.ts'
import { openPayments, type Payments } from '../../control/intents/index.ts'
import { holderNames } from '../../identity/customers/index.ts'
import type { Mode, TenantNow } from '../../kernel/contract/actor.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type PayeeRow, payeesById } from '../../money/beneficiaries/index.ts'
import { CreditRows, type HandedOver } from '../../money/incoming/index.ts'
import { BETWEEN_OWNERS, type Book, openBook } from '../../money/ledger/index.ts'
import type { TransactionRow } from '../../money/transactions/index.ts'
import { type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { dayOf } from '../../values/clock.ts'
import type { Euros } from '../../values/money.ts'
import type { RecordPayee, TransferRequest } from './intent-checks.ts'
import { type Limits, limitsOf, lockDay } from './limits/limits.ts'
import type { TransferRow } from './transfer-rows.ts'

/** What a batch needs for its payments by SEPA. */
export interface SepaBatch {
  readonly payees: ReadonlyMap<string, PayeeRow>
  readonly limits: Limits
  readonly day: string
  /** Used of the day's limit, this batch included. */
  used: Euros
  /** The part of it that this batch has used. */
  added: Euros
  /** Why this mode has no rail; undefined if it has one. */
  readonly railMissing: string | undefined
}

/** What a batch needs for its payments to holders of payment requests and tokens. */
export interface RecordPayments {
  /** The public name of the owner who pays. */
  readonly payerName: string
  readonly credits: CreditRows
  /** The payments that are for other owners, who book them in the same transaction. */
  readonly handedOver: HandedOver[]
}

/** The records that a batch of payments goes by, and what it has decided so far. */
export interface BatchState {
  /** Undefined if no payment of the batch goes by SEPA. */
  readonly sepa: SepaBatch | undefined
  /** Undefined if no payment of the batch goes to the holder of a request or a token. */
  readonly records: RecordPayments | undefined
  readonly book: Book
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly payments: Payments
  readonly tokenBudgets: TokenBudgets
  readonly transfers: TransferRow[]
  readonly transactions: TransactionRow[]
}

/**
 * Locks the accounts before it reads the wallets and locks the day's limit: freezing a wallet locks its account first,
 * too, and then gives back what its cancelled transfers had used of their days.
 */
export async function loadBatch(
  items: readonly TransferRequest[],
  sql: Sql,
  ports: Ports,
): Promise<BatchState> {
  const { tenant, now } = items[0] as TransferRequest
  const intentIds = items.flatMap(({ input: { body } }) => body.intentId ?? [])
  const tokenIds = items.flatMap(({ actor }) => actor.budgetId ?? [])
  const [payments, tokenBudgets] = await Promise.all([
    openPayments(sql, { tenant, now }, intentIds),
    openTokenBudgets(sql, tenant, tokenIds),
  ])
  const walletIds = items.flatMap(({ input: { body } }) =>
    [body.fromWalletId, body.toWalletId ?? [], body.payee?.walletId ?? []].flat(),
  )
  const uniqueIds = [...new Set(walletIds)]
  const payees = items.flatMap(({ input: { body } }) => body.payee ?? [])
  const paysRecords = payees.length > 0
  const accounts = { wallets: uniqueIds, holds: payments.holds }
  const [book, sepa, records, wallets] = await Promise.all([
    openBook(sql, { tenant, now }, paysRecords ? { ...accounts, ...betweenOwners(payees) } : accounts),
    loadSepa(items, sql, ports),
    paysRecords ? loadRecordPayments(sql, { tenant, now }) : undefined,
    walletsById(sql, tenant, uniqueIds),
    payments.lock(sql),
  ])
  return { sepa, records, book, payments, tokenBudgets, wallets, transfers: [], transactions: [] }
}

/** The accounts by which money goes from owner to owner, on both sides. */
const betweenOwners = (payees: readonly RecordPayee[]) => ({
  ...BETWEEN_OWNERS,
  beside: payees.map(({ ownerId, walletId }) => ({ ownerId, walletIds: [walletId] })),
})

async function loadRecordPayments(sql: Sql, { tenant, now }: TenantNow): Promise<RecordPayments> {
  const names = await holderNames(sql, [tenant.ownerId])
  return { payerName: names.get(tenant.ownerId) ?? '', credits: new CreditRows({ now }), handedOver: [] }
}

async function loadSepa(
  items: readonly TransferRequest[],
  sql: Sql,
  ports: Ports,
): Promise<SepaBatch | undefined> {
  const { tenant, now } = items[0] as TransferRequest
  const ids = items.flatMap(({ input }) => input.body.beneficiaryId ?? [])
  if (ids.length === 0) return undefined
  const day = dayOf(now)
  const [limits, payees, used] = await Promise.all([
    limitsOf(sql, tenant),
    payeesById(sql, tenant, ids),
    lockDay(sql, tenant, day),
  ])
  if (!limits) throw new Error('a key without a customer')
  return { payees, limits, day, used, added: 0n, railMissing: missingRail(ports, tenant.mode) }
}

function missingRail(ports: Ports, mode: Mode): string | undefined {
  try {
    ports.sepaRail(mode)
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}
