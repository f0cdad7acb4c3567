import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { newId } from '../../values/ids.ts'
import { type AccountKind, accountKinds } from './account.ts'

const OPEN_WALLET = `
insert into ledger_accounts (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents, wallet_id)
values ($1, $2, $3, $4, $4, 'EUR', 'wallet', $5, $6, $7)`

/** Opens the account of a new wallet. */
export async function openWalletAccount(
  sql: Sql,
  { tenant, now }: TenantNow,
  walletId: string,
): Promise<void> {
  const { normal, minimum } = accountKinds.wallet
  await sql(OPEN_WALLET, [newId('account'), tenant.ownerId, tenant.mode, now, normal, minimum, walletId])
}

/**
 * In the order of their kinds, so that two first requests of a tenant wait for each other and cannot deadlock. Each kind is
 * looked up by its whole key: a join could read the accounts of all wallets.
 */
const OPEN_MISSING = `
insert into ledger_accounts (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents)
select k.id, $1, $2, $3, $3, 'EUR', k.kind, k.normal, k.minimum
from unnest($4::text[], $5::text[], $6::text[], $7::bigint[]) as k (id, kind, normal, minimum)
where (
  select a.id from ledger_accounts a
  where a.owner_id = $1 and a.mode = $2 and a.currency = 'EUR' and a.kind = k.kind and a.wallet_id is null) is null
order by k.kind
on conflict (owner_id, mode, currency, kind, wallet_id) do nothing`

/** Opens the accounts of these kinds that the tenant does not have. */
export async function openMissingAccounts(
  sql: Sql,
  { tenant, now }: TenantNow,
  kinds: readonly AccountKind[],
): Promise<void> {
  if (kinds.length === 0) return
  await sql(OPEN_MISSING, [
    tenant.ownerId,
    tenant.mode,
    now,
    kinds.map(() => newId('account')),
    kinds,
    kinds.map(kind => accountKinds[kind].normal),
    kinds.map(kind => accountKinds[kind].minimum),
  ])
}

const CLOSE = `
update ledger_accounts set closed_at = $4 where owner_id = $1 and mode = $2 and wallet_id = $3`

/** Closes an account for good: the database refuses this while it is not empty, and any later entry. */
export async function closeAccount(sql: Sql, { tenant, now }: TenantNow, walletId: string): Promise<void> {
  await sql(CLOSE, [tenant.ownerId, tenant.mode, walletId, now])
}

const FREEZE = `
update ledger_accounts set frozen = $4 where owner_id = $1 and mode = $2 and wallet_id = $3`

/** Freezes or unfreezes a wallet's account. The flag is on the account so that payments, which lock it, see it. */
export async function freezeAccount(
  sql: Sql,
  tenant: Tenant,
  walletId: string,
  frozen: boolean,
): Promise<void> {
  await sql(FREEZE, [tenant.ownerId, tenant.mode, walletId, frozen])
}
