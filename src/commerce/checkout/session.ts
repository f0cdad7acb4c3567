import { defineEntity, p } from '@mikro-orm/core'
import { hostOf, isSameMerchant } from '../../control/merchants/index.ts'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { minutes } from '../../values/clock.ts'
import type { Personal } from '../../values/personal.ts'

export const sessionMachine = machine('checkout_session', {
  open: ['redeemed', 'expired'],
  redeemed: ['open'],
  expired: [],
})

const schema = defineEntity({
  ...tenantTable('CheckoutSession', 'checkout_sessions', 'agentId', 'delegationId'),
  properties: {
    ...record('checkoutsession'),
    agentId: p.text(),
    delegationId: nullable.string(),
    intentId: p.text(),
    cardId: p.text(),
    merchantHost: p.text(),
    status: p.enum(sessionMachine.states).onCreate(() => sessionMachine.initial),
    hash: p.text(),
    hint: p.text(),
    expiresAt: timestamp(),
    redeemedAt: nullable.instant(),
    accessEventId: nullable.string(),
    keyThumbprint: nullable.string(),
  },
})

/** A checkout at one shop. Its token is redeemed once, for the data of the card that pays an intent there. */
export class CheckoutSession extends schema.class {}
schema.setClass(CheckoutSession)

export const SESSION_LIFETIME_MS = minutes(15)

/** Repeats the condition of the partial index of deadlines exactly, so that PostgreSQL uses it. */
export const OPEN = "status = 'open'"

export function unusableReason({ status, expiresAt }: CheckoutSession, now: Date) {
  if (status === 'redeemed') return 'session_redeemed'
  return status === 'expired' || expiresAt <= now ? 'session_expired' : undefined
}

export function shopHostOf(url: string): string | undefined {
  const parsed = URL.parse(url)
  return parsed?.protocol === 'https:' && parsed.username === '' && parsed.password === ''
    ? hostOf(url)
    : undefined
}

/** Whether the shop may be the intent's merchant. A merchant name that is not a host proves nothing, so it passes. */
export const isShopOf = (host: string, merchant: string): boolean =>
  hostOf(merchant) === undefined || isSameMerchant(merchant, host)

export const sessionEvent = ({ id, agentId, intentId, cardId, merchantHost, status }: CheckoutSession) => ({
  checkoutSessionId: id,
  agentId,
  intentId,
  cardId,
  merchantHost,
  status,
})

export const checkoutPersonal = {
  checkout_sessions: {
    personal: {
      merchant_host: { kind: 'payment', ground: 'contract', forget: 'word' },
    },
    plain: ['hint', 'key_thumbprint'],
    secret: ['hash'],
  },
} as const satisfies Personal
