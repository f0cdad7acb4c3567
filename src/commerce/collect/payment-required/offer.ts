import { randomUUID } from 'node:crypto'
import {
  type Challenge,
  challengeId,
  contentDigest,
  encodeRequest,
  type MerchantKey,
  type Offer,
} from '../../../mpp/index.ts'
import { after } from '../../../values/clock.ts'
import { CHALLENGE_MS } from '../../mpp-keys/index.ts'
import type { Article } from './article.ts'

/** Where and with what body a payment is asked for: the challenge is bound to both. */
export interface Asked {
  readonly host: string
  readonly body: Uint8Array
}

/** What the challenge for an article asks for, with this key. */
export const askedCharge = (
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
