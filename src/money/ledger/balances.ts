import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'

export interface Balance {
  readonly availableEuros: bigint
  readonly heldEuros: bigint
}

interface WalletBalance extends Balance {
  readonly frozen: boolean
}

const BALANCES = `
select wallet_id as "walletId", posted_cents - held_cents as "availableEuros", held_cents as "heldEuros", frozen
from ledger_accounts where owner_id = $1 and mode = $2 and wallet_id = any($3::text[])`

/** The current balances of these wallets. */
export async function balancesOf(
  sql: Sql,
  { ownerId, mode }: Tenant,
  walletIds: readonly string[],
): Promise<ReadonlyMap<string, WalletBalance>> {
  const rows = await sql<{ walletId: string } & WalletBalance & Record<string, unknown>>(BALANCES, [
    ownerId,
    mode,
    walletIds,
  ])
  return new Map(rows.map(row => [row.walletId, row]))
}

/** The balance of an account at an instant, and its version then. */
export interface BalanceAt extends Row {
  readonly id: string
  readonly posted: Euros
  readonly held: Euros
  readonly version: bigint
}

const LAST = `
select e.balance_after_cents, e.held_after_cents, e.version from ledger_entries e
where (e.owner_id, e.mode, e.account_id) = (a.owner_id, a.mode, a.id) and e.booked_at <= $3
order by e.booked_at desc, e.version desc limit 1`

const balancesWhere = (condition: string): string => `
select a.id, coalesce(e.balance_after_cents, 0) as posted, coalesce(e.held_after_cents, 0) as held,
  coalesce(e.version, 0) as version
from ledger_accounts a left join lateral (${LAST}) as e on true
where a.owner_id = $1 and a.mode = $2 and ${condition}`

const BY_ID = balancesWhere('a.id = any($4::text[])')
const BY_WALLET = balancesWhere('a.wallet_id = $4')

/** Balances at an instant, entries booked at that very instant included. */
export async function balancesAt(
  sql: Sql,
  { ownerId, mode }: Tenant,
  at: Date,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, BalanceAt>> {
  const rows = await sql<BalanceAt>(BY_ID, [ownerId, mode, at, accountIds])
  return new Map(rows.map(row => [row.id, row]))
}

export async function walletBalanceAt(
  sql: Sql,
  { ownerId, mode }: Tenant,
  at: Date,
  walletId: string,
): Promise<BalanceAt | undefined> {
  const [row] = await sql<BalanceAt>(BY_WALLET, [ownerId, mode, at, walletId])
  return row
}
