import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../../kernel/contract/actor.ts'
import { stateMachine } from '../../../kernel/contract/machine.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import {
  insertInto,
  lockedRowsById,
  rowsById,
  selectColumnList,
  updateOf,
} from '../../../kernel/database/bulk-sql.ts'
import { hashSecret } from '../../../kernel/database/credential.ts'
import {
  centsColumn,
  nullable,
  recordColumns,
  tenantTable,
  timestampColumn,
} from '../../../kernel/database/entity.ts'
import { personal, personalTable, plain, secret } from '../../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../../kernel/database/table.ts'

export const paymentTokenMachine = stateMachine('payment_token', {
  waiting: ['active', 'denied', 'revoked', 'expired'],
  active: ['charged', 'revoked', 'expired'],
  charged: [],
  denied: [],
  revoked: [],
  expired: [],
})

const schema = defineEntity({
  ...tenantTable('PaymentToken', 'payment_tokens', 'agentId', 'delegationId'),
  ...personalTable({
    keptWhile: {
      where: "t.status not in ('denied', 'revoked', 'expired')",
      words: 'it was charged, or can still be',
    },
  }),
  properties: {
    ...recordColumns('paymenttoken'),
    agentId: p.text(),
    delegationId: nullable.string(),
    intentId: p.text(),
    amountCents: centsColumn('amount_cents'),
    recipientWalletId: plain(p.text()),
    recipientOwnerId: plain(p.text()),
    recipientName: personal(p.text(), 'name', 'vouchers', 'word'),
    status: p.enum(paymentTokenMachine.states).onCreate(() => paymentTokenMachine.initial),
    hash: secret(p.text()),
    hint: plain(p.text()),
    expiresAt: timestampColumn(),
    chargeId: plain(nullable.string()),
    chargedCents: nullable.cents('charged_cents'),
    chargedAt: nullable.instant(),
    transactionId: nullable.string(),
  },
})

/** Allows a wallet's owner to charge an agent once, up to an amount, within minutes. */
export class PaymentToken extends schema.class {}
schema.setClass(PaymentToken)

const REASONS = {
  waiting: 'token_waiting',
  active: undefined,
  charged: 'token_charged',
  denied: 'token_denied',
  revoked: 'token_revoked',
  expired: 'token_expired',
} as const

export function unusablePaymentTokenReason(
  { status, expiresAt }: Pick<PaymentToken, 'status' | 'expiresAt'>,
  now: Date,
) {
  const isOpen = status === 'waiting' || status === 'active'
  return isOpen && expiresAt <= now ? 'token_expired' : REASONS[status as keyof typeof REASONS]
}

export type PaymentTokenRow = RowOf<PaymentToken>

const tokenTable = tableOf(PaymentToken)

export const insertPaymentTokens = insertInto(tokenTable)
export const updatePaymentTokens = updateOf(tokenTable, [
  'updatedAt',
  'status',
  'expiresAt',
  'chargeId',
  'chargedCents',
  'chargedAt',
  'transactionId',
])

export const findPaymentTokens = rowsById(tokenTable)

export const lockPaymentTokens = lockedRowsById(tokenTable)

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

export async function findPaymentTokenBySecret(
  sql: Sql,
  secret: string,
): Promise<PresentedToken | undefined> {
  const [token] = await sql<PresentedToken>(PRESENTED, [hashSecret(secret)])
  return token
}

const WITH_WALLET = `
select ${selectColumnList(tokenTable, 't')}, a.wallet_id as "fromWalletId" from unnest($3::text[]) as w (id)
cross join lateral (select * from payment_tokens one where (one.owner_id, one.mode, one.id) = ($1, $2, w.id) limit 1) t
cross join lateral (select * from agents one where (one.owner_id, one.mode, one.id) = ($1, $2, t.agent_id) limit 1) a`

export type PayerPaymentToken = PaymentTokenRow & { readonly fromWalletId: string }

export const paymentTokensOfPayer = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<readonly PayerPaymentToken[]> =>
  sql<PayerPaymentToken & Row>(WITH_WALLET, [ownerId, mode, [...new Set(ids)]])
