import { randomUUID } from 'node:crypto'
import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import {
  acceptedQuality,
  type BoundChallenge,
  computeChallengeId,
  contentDigest,
  encodeChallengeRequest,
  isUnusableInput,
  type MerchantKey,
  type PaymentChallenge,
  parseAcceptPayment,
} from '../../../mpp/index.ts'
import type { SharedTokenAcceptance } from '../../../ports/acquirer.ts'
import { addMs, clock } from '../../../values/clock.ts'
import type { Cents } from '../../../values/money.ts'
import {
  CHALLENGE_TTL_MS,
  type CurrentMppKey,
  currentMppKey,
  currentMppKeySql,
  openMppKey,
} from '../../mpp-keys/index.ts'
import { amountDueCents, type PaymentRequest } from '../../payment-requests/index.ts'
import type { Settlement } from './settlement.ts'

/** The offer of a 402: the due amount of a request, or an article of the sandbox's merchants. */
export interface PaidArticle {
  readonly tenant: Tenant
  readonly offsetMs: number
  readonly now: Date
  readonly key: CurrentMppKey
  readonly subject: Pick<Settlement, 'requestId' | 'walletId' | 'agentId' | 'scenario'>
  readonly externalId: string
  readonly amountCents: Cents
  /** The price in another currency, which the payer's network converts. */
  readonly quote?: { readonly amount: string; readonly currency: string }
  readonly description: string
  readonly merchantName: string
  readonly networks: readonly string[]
  readonly sharedTokens: SharedTokenAcceptance | null
  readonly expiresAt: Date | null
  readonly ended: 'request_paid' | 'request_gone' | null
}

/** The part of a request that its id alone reveals to payers, with the owner's current key. */
export interface PayableRequest
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
left join lateral (${currentMppKeySql('r')}) k on true
left join lateral (
  select true as is_under_way from request_payments p
  where (p.owner_id, p.mode, p.request_id) = (r.owner_id, r.mode, r.id) and p.status = 'under_way' limit 1) u on true
where r.id = $1`

export const findPayableRequest = async (sql: Sql, id: string): Promise<PayableRequest | undefined> =>
  (await sql<PayableRequest>(PRESENTED, [id]))[0]

/** Reads a request as a payer may see it, and switches to its tenant. Undefined if there is none. */
export async function findRequestArticle(
  id: string,
  context: Context<never>,
): Promise<PaidArticle | undefined> {
  const found = await findPayableRequest(context.sql, id)
  if (!found) return undefined
  const { ownerId, mode, offsetMs, description, payee: merchantName, walletId, agentId, expiresAt } = found
  const tenant = { ownerId, mode }
  const now = clock.tenant(offsetMs)
  context.switchTenant(tenant, now)
  const { networks, sharedTokens } = context.systems.acquirer(mode)
  const { kid, modulus, secret } = found
  const key =
    kid === null
      ? await currentMppKey(tenant, context)
      : openMppKey({ kid, modulus, secret }, context.systems)
  const subject = { requestId: found.id, walletId, agentId, scenario: null }
  const accepted = { networks, sharedTokens }
  const members = { tenant, offsetMs, now, key, subject, description, merchantName, ...accepted, expiresAt }
  return { ...members, externalId: found.id, amountCents: amountDueCents(found), ended: endOf(found, now) }
}

function endOf({ status, expiresAt }: PayableRequest, now: Date): PaidArticle['ended'] {
  if (status === 'paid' || status === 'refunded') return 'request_paid'
  return status === 'open' && expiresAt > now ? null : 'request_gone'
}

export interface ChallengeTarget {
  readonly host: string
  readonly body: Uint8Array
}

const collectMethods = ['card', 'stripe'] as const
export type CollectMethod = (typeof collectMethods)[number]

export const collectMethodOf = (text: string): CollectMethod | undefined =>
  collectMethods.find(method => method === text)

/** The methods that an article is offered by, in the order of preference. */
export const offeredMethods = ({ networks, sharedTokens, amountCents }: PaidArticle): CollectMethod[] =>
  collectMethods.filter(method =>
    method === 'card' ? networks.length > 0 : sharedTokens !== null && amountCents >= sharedTokens.leastCents,
  )

export const encodeChargeRequest = (
  article: PaidArticle,
  encryptionJwk: MerchantKey,
  method: CollectMethod = 'card',
): string => {
  const { amountCents, quote, description, externalId } = article
  return encodeChallengeRequest({
    ...(quote ?? { amount: String(amountCents), currency: 'eur' }),
    description,
    externalId,
    methodDetails: method === 'card' ? cardDetails(article, encryptionJwk) : stripeDetails(article),
  })
}

const cardDetails = ({ networks, merchantName }: PaidArticle, encryptionJwk: MerchantKey) => ({
  acceptedNetworks: networks,
  merchantName,
  encryptionJwk,
})

function stripeDetails({ sharedTokens }: PaidArticle) {
  if (!sharedTokens) throw new Error('an article that is not offered by the method stripe')
  const { networkId, paymentMethodTypes } = sharedTokens
  return { networkId, paymentMethodTypes }
}

export const bodyDigest = (body: Uint8Array): string | undefined =>
  body.length === 0 ? undefined : contentDigest(body)

/**
 * Makes a fresh challenge. All members of the article are in `request`, which is encoded, so that no person's
 * text reaches a header. The nonce gives two payers in the same second different ids. Only the sandbox's
 * misbehaving merchants change members.
 */
export function createChallenge(
  article: PaidArticle,
  { host, body }: ChallengeTarget,
  changed: Partial<BoundChallenge> = {},
  method: CollectMethod = 'card',
): PaymentChallenge {
  const { now, expiresAt, key } = article
  const latest = addMs(now, CHALLENGE_TTL_MS)
  const digest = bodyDigest(body)
  const offer = {
    realm: host,
    method,
    intent: 'charge',
    request: encodeChargeRequest(article, key.jwk, method),
    ...(digest === undefined ? {} : { digest }),
    expires: (expiresAt && expiresAt < latest ? expiresAt : latest).toISOString(),
    opaque: encodeChallengeRequest({ nonce: randomUUID() }),
    ...changed,
  }
  return { id: computeChallengeId(key.secret, offer), ...offer }
}

/**
 * One challenge for each method that the payer accepts. A payer that names none it can be offered gets the first
 * method alone, as some programs read no second challenge.
 */
export function createChallenges(
  article: PaidArticle,
  target: ChallengeTarget,
  acceptPayment: string | undefined,
): PaymentChallenge[] {
  const offered = offeredMethods(article)
  const accepted = acceptPayment === undefined ? [] : parseAcceptPayment(acceptPayment)
  const known = isUnusableInput(accepted) ? [] : accepted
  const fitting = offered.filter(method => acceptedQuality(known, method, 'charge') > 0)
  const methods = fitting.length > 0 ? fitting : offered.slice(0, 1)
  return methods.map(method => createChallenge(article, target, {}, method))
}
