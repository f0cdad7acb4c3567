import { defineEntity, p } from '@mikro-orm/core'
import { hostInText, isSameMerchant } from '../../control/merchants/index.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable, timestampColumn } from '../../kernel/database/entity.ts'
import { personal, plain, secret } from '../../kernel/database/personal.ts'
import { minutes } from '../../values/clock.ts'

export const checkoutSessionMachine = stateMachine('checkout_session', {
  open: ['redeemed', 'expired'],
  redeemed: ['open'],
  expired: [],
})

const schema = defineEntity({
  ...tenantTable('CheckoutSession', 'checkout_sessions', 'agentId', 'delegationId'),
  properties: {
    ...recordColumns('checkoutsession'),
    agentId: p.text(),
    delegationId: nullable.string(),
    intentId: p.text(),
    cardId: p.text(),
    merchantHost: personal(p.text(), 'payment', 'contract', 'word'),
    status: p.enum(checkoutSessionMachine.states).onCreate(() => checkoutSessionMachine.initial),
    hash: secret(p.text()),
    hint: plain(p.text()),
    expiresAt: timestampColumn(),
    redeemedAt: nullable.instant(),
    accessEventId: nullable.string(),
    keyThumbprint: plain(nullable.string()),
  },
})

/** A checkout at one shop. Its token is redeemed once, for the data of the card that pays an intent there. */
export class CheckoutSession extends schema.class {}
schema.setClass(CheckoutSession)

export const CHECKOUT_SESSION_TTL_MS = minutes(15)

/** Repeats the condition of the partial index of deadlines exactly, so that PostgreSQL uses it. */
export const OPEN_CHECKOUT_SESSION_SQL = "status = 'open'"

export function unusableSessionReason({ status, expiresAt }: CheckoutSession, now: Date) {
  if (status === 'redeemed') return 'session_redeemed'
  return status === 'expired' || expiresAt <= now ? 'session_expired' : undefined
}

export function parseShopHost(url: string): string | undefined {
  const parsed = URL.parse(url)
  return parsed?.protocol === 'https:' && parsed.username === '' && parsed.password === ''
    ? hostInText(url)
    : undefined
}

/** Whether the shop may be the intent's merchant. A merchant name that is not a host proves nothing, so it passes. */
export const isMerchantShop = (host: string, merchant: string): boolean =>
  hostInText(merchant) === undefined || isSameMerchant(merchant, host)

export const checkoutSessionEvent = ({
  id,
  agentId,
  intentId,
  cardId,
  merchantHost,
  status,
}: CheckoutSession) => ({
  checkoutSessionId: id,
  agentId,
  intentId,
  cardId,
  merchantHost,
  status,
})
