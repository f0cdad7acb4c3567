import type { Mode } from '../../../kernel/contract/actor.ts'
import type { ExternalCallContext } from '../../../kernel/contract/handlers.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import {
  type CardDetails,
  credentialDigest,
  credentialHeaderOf,
  isJsonObject,
  type MerchantKey,
  merchantKeyOf,
  merchantKeyProblem,
  serializeCredential,
} from '../../../mpp/index.ts'
import { type IssuedNetworkToken, isProcessorFailure } from '../../../ports/card-processor.ts'
import type { OutboundAnswer } from '../../../ports/outbound.ts'
import { addMs, clock, days } from '../../../values/clock.ts'
import { parseEncryptionKey } from '../../../values/encryption-key.ts'
import { merchantRefusals, mintRefusals } from '../api.ts'
import type { MerchantRequest } from '../merchant-request.ts'
import { type CardOffer, cardOfferProblem, chooseCardOffer, euroPriceOf } from '../offers.ts'
import { allowsOwnListener } from './address.ts'
import {
  isPayProblem,
  type MachinePayment,
  type MachinePaymentProblem,
  type MintedPayment,
} from './payment.ts'

export interface MintedCredential {
  readonly payment: MintedPayment
  readonly offer: CardOffer
  readonly issued: Pick<IssuedNetworkToken, 'tokenId' | 'last4' | 'network'>
  readonly expiresAt: Date
  readonly keyThumbprint: string
  readonly header: string
  readonly credential: string
  readonly digest: string
}

export const isMintedCredential = (
  answer: MintedCredential | MachinePaymentProblem,
): answer is MintedCredential => !isPayProblem(answer)

const OFFER_TIMEOUT_MS = 10_000
const OFFER_BYTES = 65_536

/** The token's lifetime. A merchant's later authorizations are declined. */
const TOKEN_MS = days(1)

const PROCESSOR_CODES = {
  late: 'processor_silent',
  unusable: 'processor_unusable',
  refused: 'processor_refused',
} as const

/**
 * Requests the offer, checks it and mints, without an open transaction. Nothing has been sent yet. The
 * processor encrypts the token to the merchant, so this service cannot read it.
 */
export async function fetchOfferAndMint(
  payment: MachinePayment,
  outside: ExternalCallContext,
): Promise<MintedCredential | MachinePaymentProblem> {
  const {
    challenge,
    mode,
    request,
    intentId,
    cardId,
    processorCardId,
    heldCents,
    rates,
    marginPercent,
    askedAt: now,
  } = payment
  const { ports, requestId } = outside
  const { tokenNetworks, networkToken } = ports.cardProcessor(mode)
  const offer = challenge === null ? await askMerchant(request, mode, ports) : given(challenge)
  if (isPayProblem(offer)) return offer
  const price = euroPriceOf(offer.charge, rates, marginPercent)
  if (isPayProblem(price)) return price
  const problem = cardOfferProblem(offer, {
    now: clock.real(),
    heldCents,
    price,
    networks: tokenNetworks ?? [],
    body: request.body,
    url: new URL(request.url),
  })
  if (problem) return problem
  const key = await fetchMerchantKey(offer.card, mode, outside)
  if (isPayProblem(key)) return key
  const encryptionKey = parseEncryptionKey({ ...key })
  if ('problem' in encryptionKey || !networkToken)
    throw new Error('a merchant’s key was not checked, or no token')
  const expiresAt = addMs(now, TOKEN_MS)
  const binding = { challengeId: offer.challenge.id, intentId, cardId }
  const issued = await networkToken(
    { processorCardId, expiresAt, form: { kind: 'mpp', kid: key.kid, binding } },
    { key: encryptionKey, intentId, merchantHost: payment.host },
    { reference: payment.mppCredentialId, requestId, now },
  )
  if (isProcessorFailure(issued)) {
    const code = PROCESSOR_CODES[issued.failure]
    return { code, message: mintRefusals[code][1] }
  }
  return {
    payment: { ...payment, ...price, tokenId: issued.tokenId },
    offer,
    issued,
    expiresAt,
    keyThumbprint: encryptionKey.thumbprint,
    ...credentialOf(offer, issued),
  }
}

const given = (challenge: string): CardOffer | MachinePaymentProblem =>
  chooseCardOffer({ status: 402, authenticate: [challenge], headerNames: [], body: new Uint8Array() })

async function askMerchant(
  request: MerchantRequest,
  mode: Mode,
  ports: Ports,
): Promise<CardOffer | MachinePaymentProblem> {
  const headers = { ...request.headers, 'accept-payment': 'card/charge' }
  const answer = await ports.outbound.send({
    ...outboundMerchantRequest({ ...request, headers }),
    timeoutMs: OFFER_TIMEOUT_MS,
    maxBytes: OFFER_BYTES,
    ownListener: allowsOwnListener(mode),
    maxConcurrent: MAX_CONCURRENT_MINTS,
  })
  if (answer.kind !== 'answered') return noOffer(answer)
  return chooseCardOffer({
    status: answer.status,
    authenticate: answer.headerLists['www-authenticate'] ?? [],
    headerNames: Object.keys(answer.headers),
    body: answer.body,
  })
}

/** Bounds concurrent requests to one merchant, so that an unresponsive one does not block the others. */
export const MAX_CONCURRENT_MINTS = 64

export const outboundMerchantRequest = ({ url, method, headers, body }: MerchantRequest) => ({
  url,
  method,
  headers,
  ...(body === null ? {} : { body }),
})

function noOffer(answer: Exclude<OutboundAnswer, { kind: 'answered' }>): MachinePaymentProblem {
  if (answer.kind === 'refused') return { code: 'url_refused', message: `url: ${answer.message}` }
  if (answer.kind === 'busy') return { code: 'merchant_busy', message: merchantRefusals.merchant_busy[1] }
  const code = answer.timedOut ? 'merchant_timeout' : 'merchant_unusable'
  return { code, message: `${merchantRefusals[code][1]} ${answer.message}` }
}

const KEYS_TIMEOUT_MS = 5_000
const KEYS_BYTES = 65_536

async function fetchMerchantKey(
  { key }: CardDetails,
  mode: Mode,
  { ports }: ExternalCallContext,
): Promise<MerchantKey | MachinePaymentProblem> {
  if ('encryptionJwk' in key) return key.encryptionJwk
  const answer = await ports.outbound.send({
    url: key.jwksUri,
    method: 'GET',
    headers: { accept: 'application/jwk-set+json, application/json' },
    timeoutMs: KEYS_TIMEOUT_MS,
    maxBytes: KEYS_BYTES,
    ownListener: allowsOwnListener(mode),
    maxConcurrent: MAX_CONCURRENT_MINTS,
  })
  if (answer.kind !== 'answered') return noOffer(answer)
  if (answer.status !== 200 || answer.cut)
    return {
      code: 'merchant_unusable',
      message: `${merchantRefusals.merchant_unusable[1]} Its keys were answered with ${answer.cut ? 'too much' : answer.status}.`,
    }
  return keyIn(answer.body, key.kid)
}

function keyIn(body: Uint8Array, kid: string): MerchantKey | MachinePaymentProblem {
  const named = keysIn(body).filter(key => isJsonObject(key) && key.kid === kid)
  const [jwk] = named
  if (named.length !== 1 || !isJsonObject(jwk))
    return unusable('The merchant’s jwksUri does not contain exactly one key with the kid of its challenge.')
  const problem = merchantKeyProblem(jwk)
  return problem === undefined ? merchantKeyOf(jwk) : unusable(problem)
}

const unusable = (sentence: string): MachinePaymentProblem => ({
  code: 'merchant_key_unusable',
  message: `url: ${sentence}`,
})

function keysIn(body: Uint8Array): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return isJsonObject(value) && Array.isArray(value.keys) ? value.keys : []
  } catch {
    return []
  }
}

function credentialOf({ challenge }: CardOffer, issued: IssuedNetworkToken) {
  const credential = serializeCredential({
    challenge,
    payload: {
      encryptedPayload: issued.jwe,
      network: issued.network,
      panLastFour: issued.last4,
      panExpirationMonth: String(issued.expMonth).padStart(2, '0'),
      panExpirationYear: String(issued.expYear),
    },
  })
  return {
    header: credentialHeaderOf(challenge).toLowerCase(),
    credential,
    digest: credentialDigest(credential),
  }
}
