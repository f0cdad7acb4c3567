import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../../kernel/contract/actor.ts'
import { machine } from '../../../kernel/contract/machine.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import {
  insertInto,
  lockedRowsById,
  rowsById,
  selectList,
  updateOf,
} from '../../../kernel/database/bulk-sql.ts'
import { hashOf } from '../../../kernel/database/credential.ts'
import { nullable, record, tenantTable, timestamp } from '../../../kernel/database/entity.ts'
import { type RowOf, tableOf } from '../../../kernel/database/hot-table.ts'
import type { Personal } from '../../../values/personal.ts'

/** It waits for a person where its intent does. */
export const tokenMachine = machine('payment_token', {
  waiting: ['active', 'denied', 'revoked', 'expired'],
  active: ['charged', 'revoked', 'expired'],
  charged: [],
  denied: [],
  revoked: [],
  expired: [],
})

const schema = defineEntity({
  ...tenantTable('PaymentToken', 'payment_tokens', 'agentId', 'delegationId'),
  properties: {
    ...record('paymenttoken'),
    agentId: p.text(),
    delegationId: nullable.string(),
    intentId: p.text(),
    amountCents: p.bigint().name('amount_cents'),
    recipientWalletId: p.text(),
    /** The owner who may charge it. */
    recipientOwnerId: p.text(),
    /** The public name of that owner, as it was when the token was made. */
    recipientName: p.text(),
    status: p.enum(tokenMachine.states).onCreate(() => tokenMachine.initial),
    hash: p.text(),
    hint: p.text(),
    expiresAt: timestamp(),
    /** The charge, as the owner of the wallet knows it: the transaction on that side. */
    chargeId: nullable.string(),
    chargedCents: nullable.cents('charged_cents'),
    chargedAt: nullable.instant(),
    transactionId: nullable.string(),
  },
})

/** Lets the owner of a wallet take money from an agent once: no more than an amount, within minutes. */
export class PaymentToken extends schema.class {}
schema.setClass(PaymentToken)

/** Why a token of each status cannot be charged, as the code of a refusal. */
const REASONS = {
  waiting: 'token_waiting',
  active: undefined,
  charged: 'token_charged',
  denied: 'token_denied',
  revoked: 'token_revoked',
  expired: 'token_expired',
} as const

/** Why a token cannot be charged, as the code of a refusal; undefined if it can. */
export function overBecause({ status, expiresAt }: Pick<PaymentToken, 'status' | 'expiresAt'>, now: Date) {
  const isOpen = status === 'waiting' || status === 'active'
  return isOpen && expiresAt <= now ? 'token_expired' : REASONS[status as keyof typeof REASONS]
}

export const paymentTokensPersonal = {
  payment_tokens: {
    personal: {
      recipient_name: { kind: 'name', ground: 'vouchers', forget: 'word' },
    },
    plain: ['recipient_wallet_id', 'recipient_owner_id', 'hint', 'charge_id'],
    secret: ['hash'],
    keptWhile: {
      where: "t.status not in ('denied', 'revoked', 'expired')",
      words: 'it was charged, or can still be',
    },
  },
} as const satisfies Personal

/** A token as a plain row, as group commits make and change it. */
export type TokenRow = RowOf<PaymentToken>

const tokenTable = tableOf(PaymentToken)

export const insertTokens = insertInto(tokenTable)
export const updateTokens = updateOf(tokenTable, [
  'updatedAt',
  'status',
  'expiresAt',
  'chargeId',
  'chargedCents',
  'chargedAt',
  'transactionId',
])

/** Reads tokens of the tenant, without a lock. */
export const findTokens = rowsById(tokenTable)

/** Locks tokens of the tenant: behind their intents. */
export const lockTokens = lockedRowsById(tokenTable)

/** The part of a token that whoever presents its secret may know. */
interface PresentedToken extends Row {
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
