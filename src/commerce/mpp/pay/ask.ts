import type { TokenPayment } from '../../../cards/authorizations/index.ts'
import type { Actor, Mode, Tenant } from '../../../kernel/contract/actor.ts'
import type { Systems } from '../../../kernel/contract/ports.ts'
import type { NewestRates } from '../../../money/exchange-rates/index.ts'
import {
  type CardDetails,
  type ChargeMethod,
  chargeMethods,
  isJsonObject,
  type MerchantKey,
  merchantKeyOf,
  merchantKeyProblem,
  type PaidOperations,
  type PublishedOffer,
  publishedOffers,
  readPaidOperations,
} from '../../../mpp/index.ts'
import type { CardProcessor } from '../../../ports/card-processor.ts'
import type { OutboundAnswer } from '../../../ports/outbound.ts'
import { SharedCache } from '../../../values/bounded-cache.ts'
import { clock, minutes } from '../../../values/clock.ts'
import { type Cents, formatMoney } from '../../../values/money.ts'
import { merchantRefusals, merchantUrlRefusals } from '../api.ts'
import { canonicalHost, isIntentMerchant, otherMerchantMessage } from '../hosts.ts'
import type { MerchantRequest } from '../merchant-request.ts'
import {
  type EuroPrice,
  euroPriceOf,
  exclusionNote,
  isOffer,
  isPayProblem,
  listedNames,
  type MachinePaymentProblem,
  type MerchantAnswer,
  type MerchantOffer,
  merchantIsAway,
  offerProblem,
  offersOf,
  type PayingMethods,
  priceInWords,
} from '../offers.ts'
import { hostProtection, type ProtectRuleEntry } from '../protect-rule.ts'

/** Payer, payee and request, as they were when the payment was decided. Amount and token follow from the merchant's offer. */
export interface DecidedPayment
  extends Omit<TokenPayment, 'tokenId' | 'amountCents' | 'conversion'>,
    Required<PayingMethods> {
  readonly ownerId: string
  readonly mode: Mode
  readonly asker: Actor
  readonly delegationId: string | null
  readonly intentMerchant: string
  readonly heldCents: Cents
  readonly intentEndsAt: Date
  readonly rates: NewestRates | null
  readonly marginPercent: number
  readonly processorCardId: string
  readonly askedAt: Date
  readonly request: MerchantRequest
  readonly challenge: string | null
}

export interface PricedOffer<O = MerchantOffer> {
  readonly offer: O
  readonly price: EuroPrice
}

const OFFER_TIMEOUT_MS = 10_000
const OFFER_BYTES = 65_536

/** Asks the merchant, or reads the challenge that was given, and chooses the first offer that can be paid. Nothing is minted yet. */
export async function askMerchant(
  payment: DecidedPayment,
  systems: Systems,
): Promise<PricedOffer | MachinePaymentProblem> {
  const { challenge, methods } = payment
  const answer = challenge === null ? await requestOffers(payment, methods, systems) : given(challenge)
  return isPayProblem(answer) ? answer : chooseOffer(offersOf(answer, payment), payment, systems)
}

/**
 * In test mode, this service's own listener may be paid, since it plays merchants and serves requests of
 * other owners.
 */
export const allowsOwnListener = (mode: string): boolean => mode === 'test'

export function merchantUrlProblem(
  text: string,
  {
    systems: { outbound },
    tenant: { mode },
  }: { readonly systems: Pick<Systems, 'outbound'>; readonly tenant: Tenant },
): MachinePaymentProblem | undefined {
  const refused = outbound.judge(text, { ownListener: allowsOwnListener(mode) })
  if (refused) return { code: 'url_refused', message: `url: ${refused.message}` }
  const isPlain = URL.parse(text)?.protocol === 'http:'
  return isPlain && !(mode === 'test' && outbound.isAllowed(text))
    ? { code: 'https_required', message: merchantUrlRefusals.https_required[1] }
    : undefined
}

interface Payer {
  readonly agentId: string
  readonly merchant: string
}

/** Why an agent may not pay the host of an address: the owner's rules, or an intent for another merchant. */
export function payableHostProblem(
  url: URL,
  { agentId, merchant }: Payer,
  rules: readonly ProtectRuleEntry[],
): MachinePaymentProblem | undefined {
  const { deniedBy, hasAllowRules, isAllowed } = hostProtection(url, agentId, rules)
  if (deniedBy !== null)
    return {
      code: 'merchant_denied',
      message: `url: the protect rule ${deniedBy} denies ${canonicalHost(url)}. The owner can delete it: DELETE /mpp/protect/${deniedBy}.`,
    }
  if (hasAllowRules && !isAllowed)
    return { code: 'merchant_not_allowed', message: merchantUrlRefusals.merchant_not_allowed[1] }
  return isIntentMerchant(merchant, url, isAllowed)
    ? undefined
    : { code: 'merchant_mismatch', message: otherMerchantMessage(merchant, url) }
}

/** How the cards of this processor can pay, in this order. */
export const payableMethods = (
  { networkToken, sharedTokens }: Pick<CardProcessor, 'networkToken' | 'sharedTokens'>,
  methods: readonly ChargeMethod[] = chargeMethods,
): ChargeMethod[] =>
  [...new Set(methods)].filter(method => (method === 'card' ? networkToken : sharedTokens) !== null)

function chooseOffer(
  read: ReturnType<typeof offersOf>,
  { mode, heldCents, rates, marginPercent, request }: DecidedPayment,
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

const given = (challenge: string): MerchantAnswer => ({
  status: 402,
  authenticate: [challenge],
  headerNames: [],
  body: new Uint8Array(),
})

async function requestOffers(
  { request, mode, ownerId }: DecidedPayment,
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
  if (isAway(answer.status)) return merchantIsAway(answer.status, answer.headers['retry-after'])
  return {
    status: answer.status,
    authenticate: answer.headerLists['www-authenticate'] ?? [],
    headerNames: Object.keys(answer.headers),
    body: answer.body,
  }
}

/** Too many requests, or the fault of the server. */
const isAway = (status: number): boolean => status === 429 || status >= 500

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
  if (answer.kind === 'busy')
    return { code: 'merchant_busy', message: merchantRefusals.merchant_busy[1], isAway: true }
  const code = answer.timedOut ? 'merchant_timeout' : 'merchant_unusable'
  return { code, message: `${merchantRefusals[code][1]} ${answer.message}`, isAway: true }
}

const KEYS_TIMEOUT_MS = 5_000
const KEYS_BYTES = 65_536

export async function fetchMerchantKey(
  { key }: CardDetails,
  { mode, ownerId }: DecidedPayment,
  systems: Systems,
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
  if (isAway(answer.status)) return merchantIsAway(answer.status, answer.headers['retry-after'])
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

const PUBLISHED_TIMEOUT_MS = 3_000
const PUBLISHED_BYTES = 2_097_152
const MOST_CONCURRENT = 8

/**
 * What a merchant publishes about the request: `x-payment-info` of its OpenAPI. It is asked before a request that may have
 * an effect, and only for that: the challenge decides what is paid.
 */
export async function findPublished(
  { ownerId, challenge, request: { method, url: address } }: DecidedPayment,
  systems: Systems,
): Promise<readonly PublishedOffer[]> {
  if (method === 'GET' || challenge !== null) return []
  const url = new URL(address)
  return publishedOffers(await operationsOf(url.origin, ownerId, systems), { method, url })
}

/** Why the intent cannot pay what is published. */
export function publishedProblem(
  offers: readonly PublishedOffer[],
  payment: DecidedPayment,
): MachinePaymentProblem | undefined {
  const { methods, heldCents, rates, marginPercent } = payment
  if (offers.length === 0) return undefined
  const payable = offers.filter(offer => isPayable(offer, methods))
  if (payable.length === 0) return noMethod(offers, payment)
  const prices = payable.map(({ method, amount, currency }) => {
    if (!amount || !currency) return undefined
    const asked = { method: chargeMethods.find(one => one === method), charge: { amount, currency } }
    const price = euroPriceOf(asked, rates, marginPercent)
    return isPayProblem(price) ? undefined : price
  })
  const [first] = prices
  const isAbove = (price: EuroPrice | undefined) => price !== undefined && price.amountCents > heldCents
  if (!first || !prices.every(isAbove)) return undefined
  return {
    code: 'amount_above_held',
    message: `url: the merchant publishes a price of ${priceInWords(first)} in its OpenAPI, but only ${formatMoney(heldCents)} is held for the intent. Nothing was sent. Declare an intent for the full price.`,
  }
}

const isPayable = ({ method, intent }: PublishedOffer, methods: readonly ChargeMethod[]): boolean =>
  (method === undefined || methods.some(one => one === method)) && (intent ?? 'charge') === 'charge'

function noMethod(offers: readonly PublishedOffer[], paying: PayingMethods): MachinePaymentProblem {
  const offered = listedNames([
    ...new Set(offers.map(({ method, intent }) => `${method}/${intent ?? 'charge'}`)),
  ])
  const wanted = paying.methods.map(method => `${method}/charge`).join(' or ')
  const note = exclusionNote(paying, method => offers.some(offer => isPayable(offer, [method])))
  return {
    code: 'no_card_offer',
    message: `url: the merchant’s OpenAPI offers ${offered} for this request, not ${wanted}.${note} Nothing was sent.`,
  }
}

interface Published {
  readonly until: number
  readonly operations: Promise<PaidOperations>
}

/** A merchant without a document is not asked again meanwhile, either. */
const KEPT_MS = minutes(5)
const MERCHANTS = { most: 500, mostOfOne: 20 }

const known = new WeakMap<Systems['outbound'], SharedCache<Published>>()

function operationsOf(
  origin: string,
  ownerId: string,
  { outbound, threads }: Systems,
): Promise<PaidOperations> {
  const merchants = known.get(outbound) ?? new SharedCache<Published>(MERCHANTS)
  known.set(outbound, merchants)
  const now = clock.real().getTime()
  const kept = merchants.get(origin)
  if (kept && kept.until > now) return kept.operations
  const read = readOperations(origin, ownerId, { outbound, threads })
  const operations = read.then(found => found ?? [])
  const published = { until: now + KEPT_MS, operations }
  merchants.set(origin, published, ownerId)
  const forget = () => merchants.delete(origin, published)
  void read.then(found => found ?? forget(), forget)
  return operations
}

/** In bytes. The longest document takes 46 ms, during which other requests wait: one above this is read in a thread. */
const READ_HERE = 65_536

/** Without a free thread, the document says nothing: it is advice. Undefined where nothing was sent. */
async function readOperations(
  origin: string,
  ownerId: string,
  { outbound, threads }: Pick<Systems, 'outbound' | 'threads'>,
): Promise<PaidOperations | undefined> {
  const answer = await outbound.send({
    url: `${origin}/openapi.json`,
    method: 'GET',
    headers: { accept: 'application/json' },
    timeoutMs: PUBLISHED_TIMEOUT_MS,
    maxBytes: PUBLISHED_BYTES,
    maxConcurrent: { ownerId, most: MOST_CONCURRENT },
  })
  if (answer.kind === 'busy') return undefined
  if (answer.kind !== 'answered' || answer.status !== 200 || answer.cut) return []
  if (answer.body.length <= READ_HERE) return readPaidOperations(answer.body)
  const module = new URL('../../../mpp/discovery.ts', import.meta.url)
  const task = { module, name: 'readPaidOperations', owner: ownerId }
  return threads.run<typeof readPaidOperations>(task, answer.body).catch(() => [])
}
