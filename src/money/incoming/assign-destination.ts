import { PLATFORM_OWNER } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import {
  namedBy,
  type Payable,
  type PayableType,
  payableOf,
  referenceNumbersIn,
} from '../references/index.ts'
import { isPurse, type PayableWallet, payableWallets } from '../wallets/index.ts'
import type { incomingApi } from './api.ts'
import { payableIn } from './match.ts'
import type { ownCreditsApi } from './own-credits-api.ts'

/** A credit that is to be assigned: whose it is, what its payer wrote, and what it paid when it was handed over. */
interface NamedCredit extends Tenant {
  readonly reference: string | null
  readonly payableType: PayableType | null
  readonly payableId: string | null
}

/**
 * An owner may have a record of the same id as the platform: it has arrived. Where it has arrived for a closed wallet, the
 * record that was handed over still says what it pays.
 */
const NAMED_CREDIT = `
select c.owner_id as "ownerId", c.mode, c.reference, h.payable_type as "payableType", h.payable_id as "payableId"
from incoming_credits c
left join lateral (select payable_type, payable_id from incoming_credits
  where id = c.id and status = 'handed_over' and c.status <> 'handed_over' limit 1) as h on true
where c.id = $1 order by c.status = 'handed_over' limit 1`

export async function namedCredit(sql: Sql, creditId: string): Promise<NamedCredit | undefined> {
  const [credit] = await sql<NamedCredit & Row>(NAMED_CREDIT, [creditId])
  return credit
}

/** Where a credit is sent: into a wallet, and with what it pays where a reference tells it. */
export interface Destination {
  readonly wallet: PayableWallet
  readonly payable: Payable | null
}

interface Target {
  readonly walletId?: string | undefined
  readonly reference?: string | undefined
}

/** A reference that is given names the wallet, too; beside a wallet, the one in the text of the payer counts. */
export async function destinationOf(
  { reference, walletId }: Target,
  credit: NamedCredit,
  { sql, refuse }: ContextOf<typeof incomingApi.assign> | ContextOf<typeof ownCreditsApi.assignOwn>,
) {
  const { mode, ownerId } = credit
  const scope = { mode, ownerId: ownerId === PLATFORM_OWNER ? null : ownerId }
  const named = await namedBy(sql, scope, referenceNumbersIn(reference ?? credit.reference ?? ''))
  const [first] = named
  if (reference && !first) return refuse('reference_not_found')
  const [wallet] = await payableWallets(sql, scope, { ids: [walletId ?? String(first?.walletId)] })
  if (!wallet) return refuse('wallet_not_found')
  if (isPurse(wallet)) return refuse('wallet_of_card')
  const handedOver = reference === undefined ? payableOf(credit) : null
  return { wallet, payable: handedOver ?? payableIn(named, wallet) }
}
