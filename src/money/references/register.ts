import type { Mode, TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type Payable, type PayableType, payableOf } from './payable.ts'
import { referenceOf } from './reference-numbers.ts'

interface NewReference {
  readonly walletId: string
  readonly payable: Payable
}

const REGISTER = `
insert into payment_references (owner_id, mode, created_at, wallet_id, payable_type, payable_id)
values ($1, $2, $3, $4, $5, $6) returning number`

/**
 * Takes a reference for something that is to be paid into a wallet of the tenant, and gives it as ISO 11649 writes it,
 * without spaces. A payable has one; the wallet's own number enters the register as the wallet is opened.
 */
export async function newReference(
  { sql, tenant, now }: TenantNow & { readonly sql: Sql },
  { walletId, payable }: NewReference,
): Promise<string> {
  const values = [tenant.ownerId, tenant.mode, now, walletId, payable.type, payable.id]
  const [row] = await sql<{ number: bigint }>(REGISTER, values)
  if (!row) throw new Error('the register gave no number')
  return referenceOf(row.number)
}

/** What a reference names: a wallet and, where there is one, what is to be paid. */
export interface NamedReference {
  readonly number: bigint
  readonly ownerId: string
  readonly walletId: string
  readonly isClosed: boolean
  readonly payable: Payable | null
}

interface NamedRow extends Row, Omit<NamedReference, 'payable'> {
  readonly payableType: PayableType | null
  readonly payableId: string | null
}

/** One look-up in an index for each number, and one for its wallet, however large the tables are. */
const NAMED = `
select r.number, r.owner_id as "ownerId", r.wallet_id as "walletId", w.status = 'closed' as "isClosed",
  r.payable_type as "payableType", r.payable_id as "payableId"
from unnest($3::bigint[]) as a (number)
cross join lateral (
  select * from payment_references p
  where p.number = a.number and p.mode = $1 and ($2::text is null or p.owner_id = $2) limit 1) as r
cross join lateral (
  select status from wallets where (owner_id, mode, id) = (r.owner_id, r.mode, r.wallet_id) limit 1) as w`

/** What these numbers name, of one owner or of all. A number of nobody is left out. */
export async function namedBy(
  sql: Sql,
  { mode, ownerId = null }: { readonly mode: Mode; readonly ownerId?: string | null },
  numbers: readonly bigint[],
): Promise<NamedReference[]> {
  if (numbers.length === 0) return []
  const distinct = [...new Set(numbers)].map(String)
  const rows = await sql<NamedRow>(NAMED, [mode, ownerId, distinct])
  return rows.map(({ number, ownerId, walletId, isClosed, ...payable }) => ({
    ...{ number, ownerId, walletId, isClosed },
    payable: payableOf(payable),
  }))
}
