import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import {
  insertInto,
  lockedRowsById,
  rowsById,
  selectList,
  updateOf,
} from '../../../kernel/database/bulk-sql.ts'
import { hashOf } from '../../../kernel/database/credential.ts'
import { type RowOf, tableOf } from '../../../kernel/database/hot-table.ts'
import { PaymentToken } from './payment-token.ts'

/** A token as a plain row, as group commits make and change it. */
export type TokenRow = RowOf<PaymentToken>

const tokenTable = tableOf(PaymentToken)

export const insertTokens = insertInto(tokenTable)
export const updateTokens = updateOf(tokenTable, [
  'updatedAt',
  'status',
  'expiresAt',
  'chargeId',
  'chargedEuros',
  'chargedAt',
  'transactionId',
])

/** Reads tokens of the tenant, without a lock. */
export const findTokens = rowsById(tokenTable)

/** Locks tokens of the tenant: behind their intents. */
export const lockTokens = lockedRowsById(tokenTable)

/** The part of a token that whoever presents its secret may know. */
export interface PresentedToken extends Row {
  readonly id: string
  readonly ownerId: string
  readonly mode: Tenant['mode']
  readonly agentId: string
  readonly recipientOwnerId: string
  readonly recipientWalletId: string
}

const PRESENTED = `
select s.id, s.owner_id as "ownerId", s.mode, s.agent_id as "agentId", s.recipient_owner_id as "recipientOwnerId",
  s.recipient_wallet_id as "recipientWalletId"
from payment_tokens s where s.hash = $1`

/** The token with this secret, of whichever owner. */
export async function presentedToken(sql: Sql, secret: string): Promise<PresentedToken | undefined> {
  const [token] = await sql<PresentedToken>(PRESENTED, [hashOf(secret)])
  return token
}

const WITH_WALLET = `
select ${selectList(tokenTable, 't')}, a.wallet_id as "fromWalletId" from unnest($3::text[]) as w (id)
cross join lateral (select * from payment_tokens one where (one.owner_id, one.mode, one.id) = ($1, $2, w.id) limit 1) t
cross join lateral (select * from agents one where (one.owner_id, one.mode, one.id) = ($1, $2, t.agent_id) limit 1) a`

/** A token, with the wallet of its agent. */
export type PayingToken = TokenRow & { readonly fromWalletId: string }

/** Reads tokens that are to be charged, without a lock. */
export const payingTokens = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<readonly PayingToken[]> => sql<PayingToken & Row>(WITH_WALLET, [ownerId, mode, [...new Set(ids)]])
