import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { addCents, type Cents, NO_CENTS, negateCents, subtractCents } from '../../values/money.ts'
import { type LedgerAccountKind, ledgerAccountKinds } from './account.ts'

export interface AvailableBalance {
  readonly availableCents: Cents
  readonly heldCents: Cents
}

interface WalletBalance extends AvailableBalance {
  readonly frozen: boolean
}

const BALANCES = `
select wallet_id as "walletId", posted_cents - held_cents as "availableCents", held_cents as "heldCents", frozen
from ledger_accounts where owner_id = $1 and mode = $2 and wallet_id = any($3::text[])`

export async function readWalletBalances(
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

interface BalanceAt extends Row {
  readonly id: string
  readonly posted: Cents
  readonly held: Cents
  readonly version: bigint
}

const LAST = `
select e.balance_after_cents, e.held_after_cents, e.version from ledger_entries e
where (e.owner_id, e.mode, e.account_id) = (a.owner_id, a.mode, a.id)
  and e.version = ledger_version_before(a.id, $3::timestamptz + interval '1 millisecond')`

const balancesWhere = (condition: string): string => `
select a.id, coalesce(e.balance_after_cents, 0) as posted, coalesce(e.held_after_cents, 0) as held,
  coalesce(e.version, 0) as version
from ledger_accounts a left join lateral (${LAST}) as e on true
where a.owner_id = $1 and a.mode = $2 and ${condition}`

const BY_ID = balancesWhere('a.id = any($4::text[])')
const BY_WALLET = balancesWhere('a.wallet_id = $4')

/** Includes entries booked at exactly that instant. */
export async function readWalletBalancesAt(
  sql: Sql,
  { ownerId, mode }: Tenant,
  at: Date,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, BalanceAt>> {
  const rows = await sql<BalanceAt>(BY_ID, [ownerId, mode, at, accountIds])
  return new Map(rows.map(row => [row.id, row]))
}

export async function readWalletBalanceAt(
  sql: Sql,
  { ownerId, mode }: Tenant,
  at: Date,
  walletId: string,
): Promise<BalanceAt | undefined> {
  const [row] = await sql<BalanceAt>(BY_WALLET, [ownerId, mode, at, walletId])
  return row
}

interface Total {
  readonly accounts: number
  readonly availableCents: Cents
  readonly heldCents: Cents
}

const NOTHING: Total = { accounts: 0, availableCents: NO_CENTS, heldCents: NO_CENTS }

interface Sum extends Row {
  readonly kind: LedgerAccountKind
  readonly accounts: number
  readonly posted: Cents
  readonly held: Cents
}

const TOTALS = `
select kind, count(*)::int as accounts, sum(posted_cents)::bigint as posted, sum(held_cents)::bigint as held
from ledger_accounts where owner_id = $1 and mode = $2 and closed_at is null group by kind`

export async function readLedgerTotals(
  sql: Sql,
  { ownerId, mode }: Tenant,
): Promise<(kind: LedgerAccountKind) => Total> {
  const sums = await sql<Sum>(TOTALS, [ownerId, mode])
  return kind => {
    const sum = sums.find(total => total.kind === kind)
    if (!sum) return NOTHING
    const balance = ledgerAccountKinds[kind].normal === 'credit' ? sum.posted : negateCents(sum.posted)
    return { accounts: sum.accounts, availableCents: subtractCents(balance, sum.held), heldCents: sum.held }
  }
}

/** The sums of an account's credits and debits; holds and releases are no movements. */
export interface AccountFlow {
  readonly movements: bigint
  readonly inCents: Cents
  readonly outCents: Cents
}

interface EntryRange {
  readonly accountId: string
  readonly after: bigint
  readonly upTo: bigint
}

const FLOW = `
select count(*) as movements, coalesce(sum(amount_cents) filter (where amount_cents > 0), 0)::bigint as "inCents",
  coalesce(-sum(amount_cents) filter (where amount_cents < 0), 0)::bigint as "outCents"
from ledger_entries
where account_id = $1 and version > $2 and version <= $3 and amount_cents <> 0 and owner_id = $4 and mode = $5`

/** Bounds the entries that one statement adds up, so that no statement takes long. */
const SLICE = 200_000n

export async function readAccountFlow(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { accountId, after, upTo }: EntryRange,
): Promise<AccountFlow> {
  let flow: AccountFlow = { movements: 0n, inCents: NO_CENTS, outCents: NO_CENTS }
  for (let from = after; from < upTo; from += SLICE) {
    const to = from + SLICE < upTo ? from + SLICE : upTo
    const [part] = await sql<AccountFlow & Row>(FLOW, [accountId, from, to, ownerId, mode])
    if (part) flow = addFlows(flow, part)
  }
  return flow
}

export const addFlows = (first: AccountFlow, second: AccountFlow): AccountFlow => ({
  movements: first.movements + second.movements,
  inCents: addCents(first.inCents, second.inCents),
  outCents: addCents(first.outCents, second.outCents),
})

/** Locks a wallet's account and closes the time before an instant, so that later postings are booked after it. */
export const closeWalletPeriod = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  walletId: string,
  at: Date,
): Promise<void> => {
  await sql('select ledger_seal($1, $2, $3, $4)', [ownerId, mode, walletId, at])
}
