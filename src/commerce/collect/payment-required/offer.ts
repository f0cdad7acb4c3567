import { randomUUID } from 'node:crypto'
import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import {
  type Challenge,
  challengeId,
  contentDigest,
  encodeRequest,
  type MerchantKey,
  type Offer,
} from '../../../mpp/index.ts'
import { after, clock } from '../../../values/clock.ts'
import type { Cents } from '../../../values/money.ts'
import { CHALLENGE_MS, currentKeyOf, type OfferingKey, offeringKey, openKey } from '../../mpp-keys/index.ts'
import { dueCents, type PaymentRequest } from '../request.ts'
import type { Settlement } from './settlement.ts'

/** The offer of a 402: the due amount of a request, or an article of the sandbox's merchants. */
export interface Article {
  readonly tenant: Tenant
  readonly offsetMs: number
  readonly now: Date
  readonly key: OfferingKey
  readonly subject: Pick<Settlement, 'requestId' | 'walletId' | 'agentId' | 'scenario'>
  readonly externalId: string
  readonly amountCents: Cents
  readonly description: string
  readonly merchantName: string
  readonly networks: readonly string[]
  readonly expiresAt: Date | null
  readonly ended: 'request_paid' | 'request_gone' | null
}

/** The part of a request that its id alone reveals to payers, with the owner's current key. */
export interface PresentedRequest
  extends Row,
    Tenant,
    Pick<
      PaymentRequest,
      | 'id'
      | 'status'
      | 'amountCents'
      | 'paidCents'
      | 'description'
      | 'reference'
      | 'walletId'
      | 'agentId'
      | 'expiresAt'
    > {
  readonly isUnderWay: boolean
  readonly payee: string
  readonly offsetMs: number
  readonly kid: string | null
  readonly modulus: string
  readonly secret: string
}

const PRESENTED = `
select r.id, r.owner_id as "ownerId", r.mode, r.status, r.amount_cents as "amountCents", r.paid_cents as "paidCents",
  r.description, r.reference, r.wallet_id as "walletId", r.agent_id as "agentId", r.expires_at as "expiresAt",
  coalesce(u.is_under_way, false) as "isUnderWay",
  c.name as payee, coalesce(t.offset_ms, 0)::float8 as "offsetMs", k.kid, k.modulus, k.secret
from payment_requests r
join customers c on c.id = r.owner_id
left join tenant_clocks t on (t.owner_id, t.mode) = (r.owner_id, r.mode)
left join lateral (${currentKeyOf('r')}) k on true
left join lateral (
  select true as is_under_way from request_payments p
  where (p.owner_id, p.mode, p.request_id) = (r.owner_id, r.mode, r.id) and p.status = 'under_way' limit 1) u on true
where r.id = $1`

export const presentedRequest = async (sql: Sql, id: string): Promise<PresentedRequest | undefined> =>
  (await sql<PresentedRequest>(PRESENTED, [id]))[0]

/** Reads a request as a payer may see it, and switches to its tenant. Undefined if there is none. */
export async function findRequestArticle(id: string, context: Context<never>): Promise<Article | undefined> {
  const found = await presentedRequest(context.sql, id)
  if (!found) return undefined
  const { ownerId, mode, offsetMs, description, payee: merchantName, walletId, agentId, expiresAt } = found
  const tenant = { ownerId, mode }
  const now = clock.tenant(offsetMs)
  context.switchTenant(tenant, now)
  const { networks } = context.ports.acquirer(mode)
  const { kid, modulus, secret } = found
  const key =
    kid === null ? await offeringKey(tenant, context) : openKey({ kid, modulus, secret }, context.ports)
  const subject = { requestId: found.id, walletId, agentId, scenario: null }
  const members = { tenant, offsetMs, now, key, subject, description, merchantName, networks, expiresAt }
  return { ...members, externalId: found.id, amountCents: dueCents(found), ended: endOf(found, now) }
}

function endOf({ status, expiresAt }: PresentedRequest, now: Date): Article['ended'] {
  if (status === 'paid' || status === 'refunded') return 'request_paid'
  return status === 'open' && expiresAt > now ? null : 'request_gone'
}

export interface RequestTarget {
  readonly host: string
  readonly body: Uint8Array
}

export const requestFor = (
  { amountCents, description, externalId, merchantName, networks }: Article,
  encryptionJwk: MerchantKey,
): string =>
  encodeRequest({
    amount: String(amountCents),
    currency: 'eur',
    description,
    externalId,
    methodDetails: { acceptedNetworks: networks, merchantName, encryptionJwk },
  })

export const digestOf = (body: Uint8Array): string | undefined =>
  body.length === 0 ? undefined : contentDigest(body)

/**
 * Makes a fresh challenge. All members of the article are in `request`, which is encoded, so that no person's
 * text reaches a header. The nonce gives two payers in the same second different ids. Only the sandbox's
 * misbehaving merchants change members.
 */
export function challengeFor(
  article: Article,
  { host, body }: RequestTarget,
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
