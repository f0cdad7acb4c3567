import type { Mode } from '../../kernel/contract/actor.ts'
import type { OperationSettings } from '../../kernel/contract/ports.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Wallet } from './wallet.ts'

export interface PayableWallet extends Row {
  readonly id: string
  readonly ownerId: string
  readonly kind: Wallet['kind']
  readonly status: Wallet['status']
  readonly iban: string | null
  readonly bic: string | null
  readonly number: bigint
}

interface Search {
  readonly ids?: readonly string[]
  readonly ibans?: readonly string[]
}

/** Looks up each id and each IBAN in an index, however large the table is. */
const FOUND = `mode = $1 and ($2::text is null or owner_id = $2) limit 1`

const PAYABLE = `
select w.id, w.owner_id as "ownerId", w.kind, w.status, w.iban, w.bic, w.reference_number as number
from (
  select found.* from unnest($3::text[]) as a (id)
  cross join lateral (select * from wallets where wallets.id = a.id and ${FOUND}) as found
  union all
  select found.* from unnest($4::text[]) as a (iban)
  cross join lateral (select * from wallets where wallets.iban = a.iban and ${FOUND}) as found
) as w`

/** Finds wallets by id or IBAN, of one owner or of all. References are looked up in their register. */
export const findPayableWallets = (
  sql: Sql,
  { mode, ownerId = null }: { readonly mode: Mode; readonly ownerId?: string | null },
  { ids = [], ibans = [] }: Search,
): Promise<PayableWallet[]> =>
  sql<PayableWallet>(PAYABLE, [mode, ownerId, [...new Set(ids)], [...new Set(ibans)]])

interface SepaAccount {
  readonly iban: string
  readonly bic: string | null
  readonly holder: string
}

/** The wallet's own account in test mode, or otherwise the shared account of live money; undefined if there is none. */
export function findSepaAccount(
  { iban, bic }: Pick<PayableWallet, 'iban' | 'bic'>,
  { holder, ...shared }: OperationSettings['collection'],
): SepaAccount | undefined {
  const account = iban ? { iban, bic } : shared
  return account.iban ? { iban: account.iban, bic: account.bic, holder } : undefined
}
