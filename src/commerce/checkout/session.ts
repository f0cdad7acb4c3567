import { defineEntity, p } from '@mikro-orm/core'
import { hostOf, isSameMerchant } from '../../control/merchants/index.ts'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { minutes } from '../../values/clock.ts'
import type { Personal } from '../../values/personal.ts'

/** A redeemed session is open again if the processor has given nothing for it. */
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
    /** The redemption. */
    accessEventId: nullable.string(),
    keyThumbprint: nullable.string(),
  },
})

/** A checkout at one shop: its token is redeemed once for the data of the card that pays an intent there. */
export class CheckoutSession extends schema.class {}
schema.setClass(CheckoutSession)

export const SESSION_LIFETIME_MS = minutes(15)

/** The condition, written exactly as in the partial index of deadlines. */
export const OPEN = "status = 'open'"

/** Why the session cannot be redeemed any more, as the code of a refusal; undefined if it can. */
export function overBecause({ status, expiresAt }: CheckoutSession, now: Date) {
  if (status === 'redeemed') return 'session_redeemed'
  return status === 'expired' || expiresAt <= now ? 'session_expired' : undefined
}

/** The host of a shop's address; undefined for an address that is not of a shop on the web. */
export function shopHostOf(url: string): string | undefined {
  const parsed = URL.parse(url)
  return parsed?.protocol === 'https:' && parsed.username === '' && parsed.password === ''
    ? hostOf(url)
    : undefined
}

/** Whether a shop is the merchant of an intent, as far as its name tells: a name that is no host tells nothing. */
export const isShopOf = (host: string, merchant: string): boolean =>
  hostOf(merchant) === undefined || isSameMerchant(merchant, host)

/** The data of a session's event. */
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
