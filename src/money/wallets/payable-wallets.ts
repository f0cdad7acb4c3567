import type { Mode } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Wallet } from './wallet.ts'

/** The part of a wallet by which money is sent to it, and matched when it comes in. */
export interface PayableWallet extends Row {
  readonly id: string
  readonly ownerId: string
  readonly kind: Wallet['kind']
  readonly status: Wallet['status']
  readonly iban: string | null
  readonly bic: string | null
  /** The number in the wallet's payment reference. */
  readonly number: bigint
}

interface Search {
  readonly ids?: readonly string[]
  readonly ibans?: readonly string[]
  readonly numbers?: readonly bigint[]
}

const PAYABLE = `
select id, owner_id as "ownerId", kind, status, iban, bic, reference_number as number from wallets
where mode = $1 and ($2::text is null or owner_id = $2)
  and (id = any($3::text[]) or iban = any($4::text[])
    or (reference_number = any($5::bigint[]) and kind <> 'card'))`

/**
 * Finds wallets by id, IBAN or reference number, of one owner or of all. The purse of a card is found by its id only:
 * nothing that is sent from outside is for a purse.
 */
export const payableWallets = (
  sql: Sql,
  { mode, ownerId = null }: { readonly mode: Mode; readonly ownerId?: string | null },
  { ids = [], ibans = [], numbers = [] }: Search,
): Promise<PayableWallet[]> => sql<PayableWallet>(PAYABLE, [mode, ownerId, ids, ibans, numbers.map(String)])
