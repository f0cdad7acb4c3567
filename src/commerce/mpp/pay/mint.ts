import { hash } from 'node:crypto'
import type { ExternalCallContext } from '../../../kernel/contract/handlers.ts'
import type { RunningService, Systems } from '../../../kernel/contract/ports.ts'
import {
  type CardDetails,
  type ChargeMethod,
  chargeMethods,
  credentialDigest,
  credentialHeaderOf,
  isJsonObject,
  type JsonObject,
  type MerchantKey,
  merchantKeyOf,
  merchantKeyProblem,
  serializeCredential,
} from '../../../mpp/index.ts'
import {
  type CardProcessor,
  type IssuedNetworkToken,
  isProcessorFailure,
  type SharedTokenOrder,
} from '../../../ports/card-processor.ts'
import type { OutboundAnswer } from '../../../ports/outbound.ts'
import { addMs, clock, days, minutes } from '../../../values/clock.ts'
import { parseEncryptionKey } from '../../../values/encryption-key.ts'
import { merchantRefusals, mintRefusals } from '../api.ts'
import type { MerchantRequest } from '../merchant-request.ts'
import {
  type CardOffer,
  type EuroPrice,
  euroPriceOf,
  isOffer,
  type MerchantAnswer,
  type MerchantOffer,
  offerProblem,
  offersOf,
  type StripeOffer,
} from '../offers.ts'
import { allowsOwnListener } from './address.ts'
import {
  type ChosenPayment,
  isPayProblem,
  type MachinePayment,
  type MachinePaymentProblem,
} from './payment.ts'
import { publishedProblem } from './published.ts'

interface MintedCredential {
  readonly issued: Pick<IssuedNetworkToken, 'tokenId' | 'last4' | 'network'>
  readonly header: string
  readonly credential: string
  readonly digest: string
}

/** An offer that this payment can pay. A shared payment token is created only once the payment has begun. */
export interface PayableOffer {
  readonly payment: ChosenPayment
  readonly offer: MerchantOffer
  readonly expiresAt: Date
  /** The thumbprint of the merchant's key; for the method `stripe`, a digest of the seller. */
  readonly keyThumbprint: string
  readonly minted: MintedCredential | null
  readonly order: SharedTokenOrder | null
}

const OFFER_TIMEOUT_MS = 10_000
const OFFER_BYTES = 65_536

/** The token's lifetime. A merchant's later authorizations are declined. */
const TOKEN_MS = days(1)

export const PROCESSOR_CODES = {
  late: 'processor_silent',
  unusable: 'processor_unusable',
  refused: 'processor_refused',
} as const

interface PricedOffer<O = MerchantOffer> {
  readonly offer: O
  readonly price: EuroPrice
}

/**
 * Requests the offers, chooses the first that can be paid, and mints for the method `card`, without an open
 * transaction. Nothing has been sent yet. The processor encrypts the token to the merchant, so this service
 * cannot read it.
 */
export async function fetchOfferAndMint(
  payment: MachinePayment,
  outside: ExternalCallContext,
): Promise<PayableOffer | MachinePaymentProblem> {
  const { challenge, methods } = payment
  const { systems, service } = outside
  const known = challenge === null ? await publishedProblem(payment, systems) : undefined
  if (known) return known
  const answer = challenge === null ? await askMerchant(payment, methods, systems) : given(challenge)
  if (isPayProblem(answer)) return answer
  const chosen = chooseOffer(offersOf(answer, payment), payment, systems)
  if (isPayProblem(chosen)) return chosen
  const { offer, price } = chosen
  return offer.method === 'card'
    ? mintForCard({ offer, price }, payment, outside)
    : orderSharedToken({ offer, price }, payment, service)
}

/** How the cards of this processor can pay, in this order. */
export const payableMethods = (
  { networkToken, sharedTokens }: Pick<CardProcessor, 'networkToken' | 'sharedTokens'>,
  methods: readonly ChargeMethod[] = chargeMethods,
): ChargeMethod[] =>
  [...new Set(methods)].filter(method => (method === 'card' ? networkToken : sharedTokens) !== null)

function chooseOffer(
  read: ReturnType<typeof offersOf>,
  { mode, heldCents, rates, marginPercent, request }: MachinePayment,
  systems: Systems,
): PricedOffer | MachinePaymentProblem {
  const terms = {
    now: clock.real(),
    heldCents,
    networks: systems.cardProcessor(mode).tokenNetworks ?? [],
    body: request.body,
    url: new URL(request.url),
  }
  const judged = read.map(offer => {
    if (!isOffer(offer)) return offer
    const price = euroPriceOf(offer, rates, marginPercent)
    if (isPayProblem(price)) return price
    return offerProblem(offer, { ...terms, price }) ?? { offer, price }
  })
  const [first] = judged
  if (!first) throw new Error('an answer without an offer or a problem')
  const payable = judged.filter((one): one is PricedOffer => !isPayProblem(one))
  return payable.find(({ price }) => price.conversion === null) ?? payable[0] ?? first
}

async function mintForCard(
  { offer, price }: PricedOffer<CardOffer>,
  payment: MachinePayment,
  outside: ExternalCallContext,
): Promise<PayableOffer | MachinePaymentProblem> {
  const { mode, intentId, cardId, processorCardId, askedAt: now } = payment
  const { systems, requestId } = outside
  const { networkToken } = systems.cardProcessor(mode)
  const key = await fetchMerchantKey(offer.card, payment, outside)
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
    expiresAt,
    keyThumbprint: encryptionKey.thumbprint,
    minted: { issued, ...credentialOf(offer, cardPayload(issued)) },
    order: null,
  }
}

const HOUR_MS = minutes(60)

/** The token ends with its challenge. Merchants' clocks are real, so its time is real too. */
function orderSharedToken(
  { offer, price }: PricedOffer<StripeOffer>,
  { askedAt, ...payment }: MachinePayment,
  { pageUrl }: Pick<RunningService, 'pageUrl'>,
): PayableOffer {
  const { charge, challenge, stripe } = offer
  const latest = addMs(clock.real(), TOKEN_MS)
  const ends = challenge.expires === undefined ? addMs(clock.real(), HOUR_MS) : new Date(challenge.expires)
  return {
    payment: { ...payment, ...price, askedAt, tokenId: null },
    offer,
    expiresAt: addMs(askedAt, TOKEN_MS),
    keyThumbprint: hash('sha256', stripe.networkId, 'base64url'),
    minted: null,
    order: {
      processorCardId: payment.processorCardId,
      seller: stripe.networkId,
      amount: String(charge.amount),
      currency: charge.currency,
      expiresAt: (ends < latest ? ends : latest).toISOString(),
      returnUrl: pageUrl(`/console/machine-payments/${payment.mppCredentialId}`),
    },
  }
}

const given = (challenge: string): MerchantAnswer => ({
  status: 402,
  authenticate: [challenge],
  headerNames: [],
  body: new Uint8Array(),
})

async function askMerchant(
  { request, mode, ownerId }: MachinePayment,
  methods: readonly ChargeMethod[],
  systems: Systems,
): Promise<MerchantAnswer | MachinePaymentProblem> {
  const accepted = methods.map(method => `${method}/charge`).join(', ')
  const headers = { ...request.headers, 'accept-payment': accepted }
  const answer = await systems.outbound.send({
    ...outboundMerchantRequest({ ...request, headers }),
    timeoutMs: OFFER_TIMEOUT_MS,
    maxBytes: OFFER_BYTES,
    ownListener: allowsOwnListener(mode),
    maxConcurrent: { ownerId, most: MAX_CONCURRENT_MINTS },
  })
  if (answer.kind !== 'answered') return noOffer(answer)
  return {
    status: answer.status,
    authenticate: answer.headerLists['www-authenticate'] ?? [],
    headerNames: Object.keys(answer.headers),
    body: answer.body,
  }
}

/** Bounds an owner’s concurrent requests to one merchant, so that an unresponsive one does not block the others. */
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
  { mode, ownerId }: MachinePayment,
  { systems }: ExternalCallContext,
): Promise<MerchantKey | MachinePaymentProblem> {
  if ('encryptionJwk' in key) return key.encryptionJwk
  const answer = await systems.outbound.send({
    url: key.jwksUri,
    method: 'GET',
    headers: { accept: 'application/jwk-set+json, application/json' },
    timeoutMs: KEYS_TIMEOUT_MS,
    maxBytes: KEYS_BYTES,
    ownListener: allowsOwnListener(mode),
    maxConcurrent: { ownerId, most: MAX_CONCURRENT_MINTS },
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

const cardPayload = (issued: IssuedNetworkToken): JsonObject => ({
  encryptedPayload: issued.jwe,
  network: issued.network,
  panLastFour: issued.last4,
  panExpirationMonth: String(issued.expMonth).padStart(2, '0'),
  panExpirationYear: String(issued.expYear),
})

export function credentialOf({ challenge }: Pick<MerchantOffer, 'challenge'>, payload: JsonObject) {
  const credential = serializeCredential({ challenge, payload })
  return {
    header: credentialHeaderOf(challenge).toLowerCase(),
    credential,
    digest: credentialDigest(credential),
  }
}
