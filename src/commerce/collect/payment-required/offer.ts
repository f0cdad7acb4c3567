import { randomUUID } from 'node:crypto'
import type { Mode, Tenant } from '../../../kernel/contract/actor.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { Row } from '../../../kernel/contract/sql.ts'
import {
  type Challenge,
  challengeId,
  contentDigest,
  encodeRequest,
  type MerchantKey,
  type Offer,
} from '../../../mpp/index.ts'
import { after, clock } from '../../../values/clock.ts'
import type { Euros } from '../../../values/money.ts'
import { CHALLENGE_MS, currentKeyOf, type OfferingKey, offeringKey, openKey } from '../../mpp-keys/index.ts'
import type { requestMachine } from '../request.ts'
import type { Settlement } from './settlement.ts'

/** What a 402 wants paid: the rest of a request, or an article of the sandbox's merchants. */
export interface Article {
  readonly tenant: Tenant
  /** How far the clock of the tenant is ahead, in milliseconds. */
  readonly offsetMs: number
  /** The present time of the tenant. */
  readonly now: Date
  readonly key: OfferingKey
  /** What is paid, as the settlement names it. */
  readonly subject: Pick<Settlement, 'requestId' | 'walletId' | 'agentId' | 'scenario'>
  /** The id by which the merchant knows it, which the receipt repeats. */
  readonly externalId: string
  readonly amountEuros: Euros
  readonly description: string
  /** Whoever is paid, by the public name. */
  readonly merchantName: string
  /** The card networks that the acquirer takes. */
  readonly networks: readonly string[]
  /** When it can no longer be paid; null for always. */
  readonly expiresAt: Date | null
  /** Why it can no longer be paid, if so. */
  readonly ended: 'request_paid' | 'request_gone' | null
}

interface FoundRequest extends Row {
  readonly id: string
  readonly ownerId: string
  readonly mode: Mode
  readonly status: (typeof requestMachine.states)[number]
  readonly due: Euros
  readonly description: string
  readonly walletId: string
  readonly agentId: string | null
  readonly expiresAt: Date
  readonly merchantName: string
  readonly offsetMs: number
  readonly kid: string | null
  readonly modulus: string
  readonly secret: string
}

/** All that a 402 says, by one statement: payers name a request by its id alone. */
const FIND = `
select r.id, r.owner_id as "ownerId", r.mode, r.status, r.amount_cents - r.paid_cents as due, r.description,
  r.wallet_id as "walletId", r.agent_id as "agentId", r.expires_at as "expiresAt", c.name as "merchantName",
  coalesce(t.offset_ms, 0)::float8 as "offsetMs", k.kid, k.modulus, k.secret
from payment_requests r
join customers c on c.id = r.owner_id
left join tenant_clocks t on (t.owner_id, t.mode) = (r.owner_id, r.mode)
left join lateral (${currentKeyOf('r')}) k on true
where r.id = $1`

/** Reads a request as a payer may see it, and continues as its tenant; undefined where there is none. */
export async function findRequestArticle(id: string, context: Context<never>): Promise<Article | undefined> {
  const [found] = await context.sql<FoundRequest>(FIND, [id])
  if (!found) return undefined
  const { ownerId, mode, offsetMs, description, merchantName, walletId, agentId, expiresAt } = found
  const tenant = { ownerId, mode }
  const now = clock.tenant(offsetMs)
  context.actFor(tenant, now)
  const { networks } = context.ports.acquirer(mode)
  const { kid, modulus, secret } = found
  const key =
    kid === null ? await offeringKey(tenant, context) : openKey({ kid, modulus, secret }, context.ports)
  const subject = { requestId: found.id, walletId, agentId, scenario: null }
  const members = { tenant, offsetMs, now, key, subject, description, merchantName, networks, expiresAt }
  return { ...members, externalId: found.id, amountEuros: found.due, ended: endOf(found, now) }
}

function endOf({ status, expiresAt }: FoundRequest, now: Date): Article['ended'] {
  if (status === 'paid' || status === 'refunded') return 'request_paid'
  return status === 'open' && expiresAt > now ? null : 'request_gone'
}

/** Where and with what body a payment is asked for: the challenge is bound to both. */
export interface Asked {
  readonly host: string
  readonly body: Uint8Array
}

/** What the challenge for an article asks for, with this key. */
const askedCharge = (
  { amountEuros, description, externalId, merchantName, networks }: Article,
  encryptionJwk: MerchantKey,
) => ({
  amount: String(amountEuros),
  currency: 'eur',
  description,
  externalId,
  methodDetails: { acceptedNetworks: networks, merchantName, encryptionJwk },
})

/** It as the parameter `request`. */
export const requestFor = (article: Article, key: MerchantKey): string =>
  encodeRequest(askedCharge(article, key))

/** The digest of a body, which binds the challenge to it; undefined for none. */
export const digestOf = (body: Uint8Array): string | undefined =>
  body.length === 0 ? undefined : contentDigest(body)

/**
 * A fresh challenge. All that is said of the article is in `request`, which is encoded, so that no text of a person reaches
 * a header. The nonce makes the ids of two payers differ who ask in the same second. Only the sandbox's merchants that
 * misbehave change something of it.
 */
export function challengeFor(
  article: Article,
  { host, body }: Asked,
  changed: Partial<Offer> = {},
): Challenge {
  const { now, expiresAt, key } = article
  const latest = after(now, CHALLENGE_MS)
  const digest = digestOf(body)
  const offer = {
    realm: host,
    method: 'card',
    intent: 'charge',
    request: requestFor(article, key.jwk),
    ...(digest === undefined ? {} : { digest }),
    expires: (expiresAt && expiresAt < latest ? expiresAt : latest).toISOString(),
    opaque: encodeRequest({ nonce: randomUUID() }),
    ...changed,
  }
  return { id: challengeId(key.secret, offer), ...offer }
}
