import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { newId } from '../../values/ids.ts'
import { type AccountKind, accountKinds } from './account.ts'

const OPEN = `
insert into ledger_accounts (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents, wallet_id)
values ($1, $2, $3, $4, $4, 'EUR', $5, $6, $7, $8)
on conflict (owner_id, mode, currency, kind, wallet_id) do nothing`

/** Opens an account; does nothing if it exists. */
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
