import {
  type ConvertedPrice,
  convertPrice,
  type NewestRates,
  originalOfConversion,
  rateRefusals,
} from '../../money/exchange-rates/index.ts'
import {
  type CardDetails,
  type ChargeMethod,
  type ChargeRequest,
  decodeChargeRequest,
  isJsonObject,
  isRfc3339Instant,
  isUnusableInput,
  matchesContentDigest,
  type PaymentChallenge,
  parseChallenges,
  readCardDetails,
  readStripeDetails,
  type StripeDetails,
} from '../../mpp/index.ts'
import { clock, minutes } from '../../values/clock.ts'
import { maskCardNumbers } from '../../values/mask-card-numbers.ts'
import { type Cents, cents, formatMoney } from '../../values/money.ts'
import { formatOriginal, unitsFromStripe } from '../../values/original-amount.ts'
import { parseRetryAfter } from '../../values/retry-after.ts'
import type {
  merchantOfferRefusals,
  merchantRefusals,
  merchantUrlRefusals,
  mintRefusals,
  sentRefusals,
} from './api.ts'
import { canonicalHost, hostInMerchantName, isSameSite } from './hosts.ts'

/** Methods of the card’s processor. */
export interface PayingMethods {
  /** Never empty; the preferred one first. */
  readonly methods: readonly ChargeMethod[]
  /** Left out by the policy. */
  readonly excluded?: readonly ChargeMethod[]
}

export type MachinePaymentProblemCode =
  | keyof typeof merchantUrlRefusals
  | keyof typeof merchantOfferRefusals
  | keyof typeof merchantRefusals
  | keyof typeof mintRefusals
  | keyof typeof sentRefusals

export interface MachinePaymentProblem {
  readonly code: MachinePaymentProblemCode
  readonly message: string
  /** Nothing was sent that had an effect, and the merchant may answer later. */
  readonly isAway?: boolean
  /** What the merchant asks to wait, in milliseconds. */
  readonly retryAfterMs?: number
}

export const isPayProblem = (value: object): value is MachinePaymentProblem =>
  'code' in value && 'message' in value

export interface MerchantAnswer {
  readonly status: number
  readonly authenticate: readonly string[]
  readonly headerNames: readonly string[]
  readonly body: Uint8Array
}

interface Offered {
  readonly challenge: PaymentChallenge
  readonly charge: ChargeRequest
}

export interface CardOffer extends Offered {
  readonly method: 'card'
  readonly card: CardDetails
}

/** Paid by a shared payment token of Stripe. */
export interface StripeOffer extends Offered {
  readonly method: 'stripe'
  readonly stripe: StripeDetails
}

export type MerchantOffer = CardOffer | StripeOffer

/** The most of one method. Each offer is checked against the body of the request, which may be long. */
const MAX_OFFERS = 8

/** Methods, schemes and card networks. Every other name is the merchant's own word, and a model reads the refusal. */
const KNOWN_NAMES = new Set(
  (
    'card stripe tempo lightning solana stellar x402 l402 bearer basic digest link sepa_debit us_bank_account ' +
    'visa mastercard maestro amex discover diners jcb unionpay cartesbancaires'
  ).split(' '),
)
const KNOWN_INTENT = /\/(charge|session|authorize|subscription)$/i

const isKnownName = (name: string): boolean => KNOWN_NAMES.has(name.replace(KNOWN_INTENT, '').toLowerCase())

export function listedNames(names: readonly string[], unknown = 'another method'): string {
  const known = [...new Set(names.filter(isKnownName))]
  return [...known, ...(names.every(isKnownName) ? [] : [unknown])].join(', ')
}

/** The reason why an offer by an excluded method is not taken; empty if there is none. */
export const exclusionNote = (
  { methods, excluded = [] }: PayingMethods,
  isOffered: (method: ChargeMethod) => boolean,
): string =>
  excluded.some(isOffered) ? ` The agent’s policy allows only ${methods.join(' and ')} (mppMethods).` : ''

/**
 * The merchant's offers of each method, in the order of the methods: those in euros, then the other readable ones, then
 * what is wrong with the unreadable ones. Never empty.
 */
export function offersOf(
  answer: MerchantAnswer,
  paying: PayingMethods,
): readonly (MerchantOffer | MachinePaymentProblem)[] {
  const { methods } = paying
  if (answer.status !== 402) return [noPaymentRequired(answer.status)]
  const { challenges, otherSchemes, problems } = parseChallenges(answer.authenticate)
  const found = methods.flatMap(method => {
    const read = challenges
      .filter(challenge => isCharge(challenge, method))
      .map(challenge => readOffer(challenge, method))
    // A price in euros needs no rate and no margin.
    const rank = (one: (typeof read)[0]) => (isOffer(one) ? Number(one.charge.currency !== 'eur') : 2)
    return read.toSorted((one, other) => rank(one) - rank(other)).slice(0, MAX_OFFERS)
  })
  if (found.length > 0) return found
  const offers = challenges.map(({ method, intent }) => `${method}/${intent}`)
  const names = [...new Set([...offers, ...otherSchemes, ...otherProtocols(answer)])]
  const offered =
    names.length === 0 ? 'The merchant offers nothing readable' : `Offered: ${listedNames(names)}`
  const why = problems.length > 0 ? ` ${problems.slice(0, 3).join(' ')}` : ''
  const wanted = methods.map(method => `${method}/charge`).join(' or ')
  const note = exclusionNote(paying, method => challenges.some(challenge => isCharge(challenge, method)))
  const message = `url: the merchant does not accept ${wanted} of the scheme Payment. ${offered}.${note}${why}`
  return [{ code: 'no_card_offer', message }]
}

export const isOffer = (read: MerchantOffer | MachinePaymentProblem): read is MerchantOffer =>
  'challenge' in read

const isCharge = ({ method, intent }: PaymentChallenge, wanted: ChargeMethod): boolean =>
  method.toLowerCase() === wanted && intent.toLowerCase() === 'charge'

const noPaymentRequired = (status: number): MachinePaymentProblem => ({
  code: 'no_challenge',
  message:
    status >= 200 && status < 300
      ? `url: the merchant answered ${status} and asks for no payment. Request it yourself.`
      : `url: the merchant answered ${status}, not 402: it asks for no payment at this address. Nothing was paid.`,
})

/** Longer pauses that merchants ask for are not kept to. */
const LONGEST_RETRY_AFTER_MS = minutes(60)

/** The merchant has too many requests, or a fault: it does not say whether it asks for payment. */
export function merchantIsAway(status: number, retryAfter: string | undefined): MachinePaymentProblem {
  const retryAfterMs = parseRetryAfter(retryAfter, clock.real(), LONGEST_RETRY_AFTER_MS)
  const message = `The merchant answered ${status}: it is busy, or has a fault. Nothing was minted or paid. Try again.`
  return { code: 'merchant_busy', message, isAway: true, ...(retryAfterMs !== null && { retryAfterMs }) }
}

const NUMBER_INSIDE = 'The challenge contains a card number, which must be neither stored nor sent.'

/** A challenge is stored byte for byte, so its base64url members are searched as well. */
function hasCardNumberInside({ request, opaque = '', ...others }: PaymentChallenge): boolean {
  const inside = [request, opaque].map(text => Buffer.from(text, 'base64url').toString('utf8'))
  const text = [...Object.values(others), opaque, ...inside].join('\n')
  return maskCardNumbers(text) !== text
}

export function readOffer(
  challenge: PaymentChallenge,
  method: ChargeMethod,
): MerchantOffer | MachinePaymentProblem {
  const charge = decodeChargeRequest(challenge)
  if (isUnusableInput(charge)) return { code: 'challenge_unusable', message: `url: ${charge.problem}` }
  if (hasCardNumberInside(challenge)) return { code: 'challenge_unusable', message: `url: ${NUMBER_INSIDE}` }
  const details = method === 'card' ? readCardDetails(charge) : readStripeDetails(charge)
  if (isUnusableInput(details)) return { code: 'challenge_unusable', message: `url: ${details.problem}` }
  return 'networkId' in details
    ? { method: 'stripe', challenge, charge, stripe: details }
    : { method: 'card', challenge, charge, card: details }
}

function otherProtocols({ headerNames, body }: MerchantAnswer): string[] {
  const isX402 = headerNames.some(name => name === 'payment-required' || name.startsWith('x-payment'))
  return isX402 || namesX402(body) ? ['x402'] : []
}

function namesX402(body: Uint8Array): boolean {
  if (body.length > 65_536) return false
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'))
    return isJsonObject(value) && 'x402Version' in value
  } catch {
    return false
  }
}

export interface OfferTerms {
  /** Real time, since merchants do not know a tenant's clock. */
  readonly now: Date
  readonly heldCents: Cents
  readonly price: EuroPrice
  readonly networks: readonly string[]
  readonly body: string | null
  readonly url: URL
}

type Check<O> = (offer: O, terms: OfferTerms) => MachinePaymentProblem | undefined

const checkExpiry: Check<Offered> = ({ challenge: { expires } }, { now }) => {
  if (expires === undefined) return undefined
  if (!isRfc3339Instant(expires))
    return {
      code: 'challenge_unusable',
      message: 'url: the expiry of the challenge is not an RFC 3339 time.',
    }
  if (Date.parse(expires) > now.getTime()) return undefined
  return {
    code: 'challenge_expired',
    message: `url: the challenge of the merchant expired at ${new Date(expires).toISOString()}. Try again; if its challenges are always expired, the merchant’s clock is wrong.`,
  }
}

/** In euros, what a merchant asks for; with its conversion, if it asks for another currency. */
export type EuroPrice = Omit<ConvertedPrice, 'conversion'> & {
  readonly conversion: ConvertedPrice['conversion'] | null
}

interface AskedPrice {
  readonly method: ChargeMethod | undefined
  readonly charge: Pick<ChargeRequest, 'amount' | 'currency'>
}

/** Prices of the method `stripe` are in Stripe's units, which are those that are charged. */
function unitsOf({ method, charge: { amount, currency } }: AskedPrice): bigint | MachinePaymentProblem {
  if (method !== 'stripe') return amount
  const code = currency.toUpperCase()
  const { units, isWhole } = unitsFromStripe(amount, code)
  if (isWhole) return units
  const message = `url: the merchant asks for a fraction of the smallest unit of ${code}, which Stripe does not charge.`
  return { code: 'challenge_unusable', message }
}

export function euroPriceOf(
  asked: AskedPrice,
  rates: NewestRates | null,
  marginPercent: number,
): EuroPrice | MachinePaymentProblem {
  const { currency } = asked.charge
  const amount = unitsOf(asked)
  if (typeof amount !== 'bigint') return amount
  if (currency === 'eur') return { amountCents: cents(amount), conversion: null }
  if (!rates) return { code: 'rates_outdated', message: rateRefusals.rates_outdated[1] }
  const code = currency.toUpperCase()
  return (
    convertPrice(amount, code, rates, marginPercent) ?? {
      code: 'currency_unknown',
      message: `url: the merchant asks for ${code}, which has no reference rate. GET /exchange-rates lists the currencies.`,
    }
  )
}

export function priceInWords({ amountCents, conversion }: EuroPrice): string {
  if (conversion === null) return formatMoney(amountCents)
  const { rateDate, marginPercent } = conversion
  return `${formatOriginal(originalOfConversion(conversion))} (${formatMoney(amountCents)} by the rate of ${rateDate} with a margin of ${marginPercent} %)`
}

const checkHold: Check<Offered> = (_, { heldCents, price }) =>
  price.amountCents <= heldCents
    ? undefined
    : {
        code: 'amount_above_held',
        message: `url: the merchant asks for ${priceInWords(price)}, but only ${formatMoney(heldCents)} is held for the intent. Declare an intent for the full price.`,
      }

const checkNetwork: Check<CardOffer> = ({ card }, { networks }) =>
  networkOf(card.acceptedNetworks, networks)
    ? undefined
    : {
        code: 'network_not_accepted',
        message: `url: the merchant accepts ${listedNames(card.acceptedNetworks, 'another network')}, but the card’s network is ${networks.join(', ')}.`,
      }

const checkDigest: Check<Offered> = ({ challenge: { digest } }, { body }) =>
  digest === undefined || matchesContentDigest(digest, body ?? '')
    ? undefined
    : {
        code: 'digest_mismatch',
        message:
          'url: the challenge is for another request body. Send the body that the challenge was offered for.',
      }

const checkBilling: Check<CardOffer> = ({ card: { billingRequired } }) =>
  billingRequired
    ? {
        code: 'challenge_unusable',
        message: 'url: the merchant requires a billing address, which this service does not give.',
      }
    : undefined

/** A key from another origin may not belong to the merchant. */
const checkKeyOrigin: Check<CardOffer> = ({ card: { key } }, { url }) =>
  'encryptionJwk' in key || URL.parse(key.jwksUri)?.origin === url.origin
    ? undefined
    : {
        code: 'merchant_key_unusable',
        message: `url: the challenge takes its key from ${URL.parse(key.jwksUri)?.host}, not from the requested merchant.`,
      }

/** A name in words proves nothing and is only shown. The host of another site is refused. */
const checkMerchantName: Check<CardOffer> = ({ card: { merchantName } }, { url }) => {
  const named = hostInMerchantName(merchantName)
  const host = canonicalHost(url)
  if (named === undefined || isSameSite(host, named)) return undefined
  return {
    code: 'merchant_mismatch',
    message: `url: the merchant calls itself ${named}, but the request went to ${host}. Pay at the merchant’s own address.`,
  }
}

/** The payment method behind the token is a card. */
const checkMethodTypes: Check<StripeOffer> = ({ stripe: { paymentMethodTypes } }) =>
  paymentMethodTypes.includes('card')
    ? undefined
    : {
        code: 'network_not_accepted',
        message: `url: the merchant accepts ${listedNames(paymentMethodTypes)} by Stripe, but no card.`,
      }

const checksOfCard = [
  checkExpiry,
  checkHold,
  checkNetwork,
  checkDigest,
  checkBilling,
  checkKeyOrigin,
  checkMerchantName,
]
const checksOfStripe = [checkExpiry, checkHold, checkDigest, checkMethodTypes]

const firstProblem = <O>(
  checks: readonly Check<O>[],
  offer: O,
  terms: OfferTerms,
): MachinePaymentProblem | undefined => {
  for (const check of checks) {
    const problem = check(offer, terms)
    if (problem) return problem
  }
  return undefined
}

export const offerProblem = (offer: MerchantOffer, terms: OfferTerms): MachinePaymentProblem | undefined =>
  offer.method === 'card'
    ? firstProblem(checksOfCard, offer, terms)
    : firstProblem(checksOfStripe, offer, terms)

const networkOf = (accepted: readonly string[], networks: readonly string[]): string | undefined =>
  accepted.find(network => networks.includes(network))
