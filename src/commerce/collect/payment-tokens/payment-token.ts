import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, timestamp } from '../../../kernel/database/entity.ts'
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
    amountEuros: p.bigint().name('amount_cents'),
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
    chargedEuros: nullable.euros('charged_cents'),
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
