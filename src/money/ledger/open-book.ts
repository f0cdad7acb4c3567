import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { newId } from '../../values/ids.ts'
import { type AccountKind, accountKinds } from './account.ts'
import { Book, type Cause, type LockedAccount, type OpenHold } from './book.ts'

/** For a book that is to force a fact, and one that is to recover what is owed. */
export const FORCED_DEBIT_ACCOUNTS = [
  'bank',
  'advance',
  'receivable',
] as const satisfies readonly AccountKind[]
export const DEBT_ACCOUNTS = ['advance', 'receivable'] as const satisfies readonly AccountKind[]

/** What will be needed: wallets by their ids, the tenant's other accounts by kind, holds by what they are for. */
interface BookAccounts {
  readonly wallets: readonly string[]
  readonly others?: readonly AccountKind[]
  /** By kind, where the tenant has such accounts; none is opened. */
  readonly ifExists?: readonly AccountKind[]
  readonly holds?: readonly Cause[]
}

/**
 * The ids come from an array that is made once: of a subquery PostgreSQL would ask anew after having waited for a lock,
 * and not find the account again.
 */
const LOCK = `
select id, kind, wallet_id as "walletId", posted_cents as posted, held_cents as held, frozen
from ledger_accounts where id = any(array(
  select id from ledger_accounts where owner_id = $1 and mode = $2 and wallet_id = any($3::text[])
  union all
  select id from ledger_accounts where owner_id = $1 and mode = $2 and currency = 'EUR' and kind = any($4::text[])
    and wallet_id is null))
order by id for update`

const HOLDS = `
select h.id, h.account_id as "accountId", h.reference_type as "referenceType", h.reference_id as "referenceId",
  h.remaining_cents as remaining
from unnest($3::text[], $4::text[]) as c (type, id)
cross join lateral (
  select * from ledger_holds one
  where (one.owner_id, one.mode, one.reference_type, one.reference_id) = ($1, $2, c.type, c.id) offset 0) as h`

/** Locks the accounts in the global order; a wallet that is not the tenant's is not in the book. */
export async function openBook(sql: Sql, { tenant, now }: TenantNow, wanted: BookAccounts): Promise<Book> {
  const { wallets, others = [], ifExists = [], holds = [] } = wanted
  const asked = [tenant.ownerId, tenant.mode, [...new Set(wallets)], [...others, ...ifExists]]
  let accounts = await sql<LockedAccount>(LOCK, asked)
  const missing = others.filter(kind => !accounts.some(account => account.kind === kind))
  if (missing.length > 0) {
    for (const kind of missing) await openAccount(sql, { tenant, now }, kind, null)
    accounts = await sql<LockedAccount>(LOCK, asked)
  }
  const held = holds.length === 0 ? [] : await openHolds(sql, tenant, holds)
  return new Book(tenant, now, accounts, held)
}

const openHolds = (sql: Sql, { ownerId, mode }: Tenant, holds: readonly Cause[]): Promise<OpenHold[]> =>
  sql<OpenHold>(HOLDS, [ownerId, mode, holds.map(({ type }) => type), holds.map(({ id }) => id)])

const OPEN = `
insert into ledger_accounts (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents, wallet_id)
values ($1, $2, $3, $4, $4, 'EUR', $5, $6, $7, $8)
on conflict (owner_id, mode, currency, kind, wallet_id) do nothing`

/** Of two who open the same account at once, one does. */
export async function openAccount(
  sql: Sql,
  { tenant, now }: TenantNow,
  kind: AccountKind,
  walletId: string | null,
): Promise<void> {
  const { normal, minimum } = accountKinds[kind]
  const values = [newId('account'), tenant.ownerId, tenant.mode, now, kind, normal, minimum, walletId]
  await sql(OPEN, values)
}

const CLOSE = `
update ledger_accounts set closed_at = $4 where owner_id = $1 and mode = $2 and wallet_id = $3`

/** For good: the database refuses an account that is not empty, and every entry after that. */
export async function closeAccount(sql: Sql, { tenant, now }: TenantNow, walletId: string): Promise<void> {
  await sql(CLOSE, [tenant.ownerId, tenant.mode, walletId, now])
}

const FREEZE = `
update ledger_accounts set frozen = $4 where owner_id = $1 and mode = $2 and wallet_id = $3`

/** Whoever holds the account knows whether its wallet is frozen; the one who says so holds it too. */
export async function freezeAccount(
  sql: Sql,
  tenant: Tenant,
  walletId: string,
  frozen: boolean,
): Promise<void> {
  await sql(FREEZE, [tenant.ownerId, tenant.mode, walletId, frozen])
}

export interface Balance {
  readonly availableEuros: bigint
  readonly heldEuros: bigint
}

interface Now extends Balance {
  readonly frozen: boolean
}

const BALANCES = `
select wallet_id as "walletId", posted_cents - held_cents as "availableEuros", held_cents as "heldEuros", frozen
from ledger_accounts where owner_id = $1 and mode = $2 and wallet_id = any($3::text[])`

/** What each of these wallets holds now. */
export async function balancesOf(
  sql: Sql,
  { ownerId, mode }: Tenant,
  walletIds: readonly string[],
): Promise<ReadonlyMap<string, Now>> {
  const rows = await sql<{ walletId: string } & Now & Record<string, unknown>>(BALANCES, [
    ownerId,
    mode,
    walletIds,
  ])
  return new Map(rows.map(row => [row.walletId, row]))
}
