import type { Mode } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Wallet } from './wallet.ts'

/** Of a wallet what decides whether money that has come in is meant for it. */
export interface PayableWallet extends Row {
  readonly id: string
  readonly ownerId: string
  readonly status: Wallet['status']
  readonly iban: string | null
  /** In its reference. */
  readonly number: bigint
}

interface Named {
  readonly ids?: readonly string[]
  readonly ibans?: readonly string[]
  readonly numbers?: readonly bigint[]
}

const PAYABLE = `
select id, owner_id as "ownerId", status, iban, reference_number as number from wallets
where mode = $1 and ($2::text is null or owner_id = $2)
  and (id = any($3::text[]) or iban = any($4::text[]) or reference_number = any($5::bigint[]))`

/** The wallets that are named like this: of one owner, or of whoever it is. */
export const payableWallets = (
  sql: Sql,
  { mode, ownerId = null }: { readonly mode: Mode; readonly ownerId?: string | null },
  { ids = [], ibans = [], numbers = [] }: Named,
): Promise<PayableWallet[]> => sql<PayableWallet>(PAYABLE, [mode, ownerId, ids, ibans, numbers.map(String)])
