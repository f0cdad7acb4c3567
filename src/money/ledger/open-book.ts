import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type AccountKind, openMissingAccounts } from './account.ts'
import { Book, type Cause, type LockedAccount, type OpenHold } from './book.ts'

/** The accounts that `Book.forceDebit` and `Book.repayDebt` use. */
export const FORCED_DEBIT_ACCOUNTS = [
  'bank',
  'advance',
  'receivable',
] as const satisfies readonly AccountKind[]
export const DEBT_ACCOUNTS = ['advance', 'receivable'] as const satisfies readonly AccountKind[]

/** The contents of a book: wallets by id, other accounts by kind (opened if missing), holds by cause. */
interface BookAccounts {
  readonly wallets: readonly string[]
  readonly others?: readonly AccountKind[]
  /** Accounts by kind that are left out if the tenant has none. */
  readonly ifExists?: readonly AccountKind[]
  readonly holds?: readonly Cause[]
}

/**
 * Locks accounts in the order of their ids. `any(array(…))` evaluates the ids once: PostgreSQL evaluates a subquery
 * again after it has waited for a lock, and would then miss the account.
 */
const LOCK = `
select id, kind, wallet_id as "walletId", posted_cents as posted, held_cents as held, frozen
from ledger_accounts where owner_id = $1 and mode = $2 and id = any(array(
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
  select * from ledger_holds l
  where (l.owner_id, l.mode, l.reference_type, l.reference_id) = ($1, $2, c.type, c.id) offset 0) as h`

/**
 * Opens a book with these accounts locked; wallets of other tenants are left out. All of it is sent at once, so what is
 * sent behind it is locked, and read, after the accounts.
 */
export async function openBook(
  sql: Sql,
  { tenant, now }: TenantNow,
  { wallets, others = [], ifExists = [], holds = [] }: BookAccounts,
): Promise<Book> {
  const kinds = [...others, ...ifExists]
  const [, accounts, held] = await Promise.all([
    openMissingAccounts(sql, { tenant, now }, others),
    sql<LockedAccount>(LOCK, [tenant.ownerId, tenant.mode, [...new Set(wallets)], kinds]),
    openHolds(sql, tenant, holds),
  ])
  return new Book(tenant, now, accounts, held)
}

const openHolds = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  holds: readonly Cause[],
): Promise<OpenHold[]> =>
  holds.length === 0
    ? []
    : sql<OpenHold>(HOLDS, [ownerId, mode, holds.map(({ type }) => type), holds.map(({ id }) => id)])
