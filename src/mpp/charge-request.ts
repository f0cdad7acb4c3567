import { canonicalJson } from '../values/canonical-json.ts'
import {
  decodeBase64urlObject,
  isJsonObject,
  isStorable,
  isUnusableInput,
  type JsonObject,
  toBase64url,
  type UnusableInput,
  unusableInput,
} from './base64url.ts'
import type { PaymentChallenge } from './challenge.ts'
import type { PaymentCredential } from './credential.ts'
import { type MerchantKey, merchantKeyOf, merchantKeyProblem } from './merchant-key.ts'

/** The methods that are paid and offered, in the order of preference: only the token of `card` is bound to one challenge. */
export const chargeMethods = ['card', 'stripe'] as const
export type ChargeMethod = (typeof chargeMethods)[number]

export interface ChargeRequest {
  /** In the smallest unit of the currency: cents of a euro. */
  readonly amount: bigint
  /** ISO 4217 in lower case. */
  readonly currency: string
  readonly recipient?: string
  readonly description?: string
  readonly externalId?: string
  readonly methodDetails: JsonObject
}

/** The same limit as other implementations. */
const LONGEST_REQUEST = 16_384
const LONGEST_TEXT = 4_096

export const encodeChallengeRequest = (request: object): string => toBase64url(canonicalJson(request))

export function decodeChargeRequest({ request }: PaymentChallenge): ChargeRequest | UnusableInput {
  if (request.length > LONGEST_REQUEST)
    return unusableInput(`The request of the challenge has more than ${LONGEST_REQUEST} characters.`)
  const given = decodeBase64urlObject('The request of the challenge', request)
  return isUnusableInput(given) ? given : chargeOf(given)
}

function chargeOf(given: JsonObject): ChargeRequest | UnusableInput {
  const { amount, currency, methodDetails = {} } = given
  if (typeof amount !== 'string' || !/^[1-9]\d{0,14}$/.test(amount))
    return unusableInput(
      'The amount of the challenge is not a string of digits for a positive number of cents.',
    )
  if (typeof currency !== 'string' || !/^[a-z]{3}$/.test(currency))
    return unusableInput('The currency of the challenge is not an ISO 4217 code in lower case.')
  if (!isJsonObject(methodDetails))
    return unusableInput('The methodDetails of the challenge are not a JSON object.')
  const texts = textsOf(given, ['recipient', 'description', 'externalId'])
  if (isUnusableInput(texts)) return texts
  return { amount: BigInt(amount), currency, ...texts, methodDetails }
}

function textsOf(
  given: JsonObject,
  names: readonly string[],
): Readonly<Record<string, string>> | UnusableInput {
  const present = names.filter(name => given[name] !== undefined && given[name] !== null)
  const wrong = present.find(
    name => typeof given[name] !== 'string' || String(given[name]).length > LONGEST_TEXT,
  )
  if (wrong)
    return unusableInput(
      `The ${wrong} of the challenge is not a string of at most ${LONGEST_TEXT} characters.`,
    )
  return Object.fromEntries(present.map(name => [name, String(given[name])]))
}

export interface CardDetails {
  readonly acceptedNetworks: readonly string[]
  /** Stated by the merchant and unverified. */
  readonly merchantName: string
  readonly key: { readonly encryptionJwk: MerchantKey } | { readonly jwksUri: string; readonly kid: string }
  readonly billingRequired: boolean
}

const NETWORK = /^[a-z0-9]{1,25}$/
const MOST_NETWORKS = 20
const LONGEST_NAME = 200
const LONGEST_URL = 2_000

export function readCardDetails({ methodDetails }: ChargeRequest): CardDetails | UnusableInput {
  const { acceptedNetworks: networks, merchantName, billingRequired } = methodDetails
  if (!isNetworks(networks))
    return unusableInput('The challenge does not name the card networks that it accepts.')
  if (typeof merchantName !== 'string' || merchantName === '' || merchantName.length > LONGEST_NAME)
    return unusableInput(`The challenge has no merchantName of at most ${LONGEST_NAME} characters.`)
  if (!isStorable(merchantName))
    return unusableInput('The merchantName of the challenge has a character that cannot be stored.')
  const key = keyOf(methodDetails)
  if (isUnusableInput(key)) return key
  return { acceptedNetworks: networks, merchantName, key, billingRequired: billingRequired === true }
}

const isNetworks = (given: unknown): given is string[] =>
  Array.isArray(given) &&
  given.length > 0 &&
  given.length <= MOST_NETWORKS &&
  given.every(network => typeof network === 'string' && NETWORK.test(network))

function keyOf(details: Readonly<Record<string, unknown>>): CardDetails['key'] | UnusableInput {
  const { encryptionJwk, jwksUri, kid } = details
  if (encryptionJwk !== undefined && jwksUri !== undefined)
    return unusableInput('The challenge gives both encryptionJwk and jwksUri. Exactly one is allowed.')
  if (encryptionJwk !== undefined) {
    const wrong = merchantKeyProblem(encryptionJwk)
    if (wrong !== undefined || !isJsonObject(encryptionJwk))
      return unusableInput(wrong ?? 'The key is not an object.')
    return { encryptionJwk: merchantKeyOf(encryptionJwk) }
  }
  if (typeof jwksUri !== 'string' || jwksUri.length > LONGEST_URL || !URL.canParse(jwksUri))
    return unusableInput('The challenge gives no key: neither encryptionJwk nor an address as jwksUri.')
  if (typeof kid !== 'string' || kid === '' || kid.length > 200)
    return unusableInput('The challenge gives a jwksUri without the kid of the key.')
  return { jwksUri, kid }
}

export interface CardPayload {
  /** The network token: a compact JWE for the merchant's key. */
  readonly encryptedPayload: string
  readonly network: string
  readonly panLastFour: string
  readonly panExpirationMonth: string
  readonly panExpirationYear: string
  readonly paymentAccountReference?: string
}

const LONGEST_JWE = 16_384

const shapes = {
  network: /^[a-z0-9]{1,25}$/,
  panLastFour: /^\d{4}$/,
  panExpirationMonth: /^(?:0[1-9]|1[0-2])$/,
  panExpirationYear: /^(?:\d{2}|\d{4})$/,
} as const

const COMPACT_JWE = /^[\w-]+\.[\w-]+\.[\w-]+\.[\w-]+\.[\w-]+$/

/** The sentence of a problem repeats nothing of the payload. */
export function readCardPayload({ payload }: PaymentCredential): CardPayload | UnusableInput {
  const { encryptedPayload: jwe, paymentAccountReference: reference } = payload
  if (typeof jwe !== 'string' || jwe.length > LONGEST_JWE || !COMPACT_JWE.test(jwe))
    return unusableInput('The encryptedPayload of the credential is not a compact JWE.')
  const names = Object.keys(shapes) as (keyof typeof shapes)[]
  const wrong = names.find(name => typeof payload[name] !== 'string' || !shapes[name].test(payload[name]))
  if (wrong) return unusableInput(`The credential has no usable ${wrong}.`)
  if (reference !== undefined && (typeof reference !== 'string' || !/^[0-9A-Za-z]{1,35}$/.test(reference)))
    return unusableInput(
      'The paymentAccountReference of the credential is not a string of letters and digits.',
    )
  const texts = Object.fromEntries(names.map(name => [name, String(payload[name])]))
  return {
    ...(texts as Record<keyof typeof shapes, string>),
    encryptedPayload: jwe,
    ...referenceOf(reference),
  }
}

const referenceOf = (reference: string | undefined) =>
  reference === undefined ? {} : { paymentAccountReference: reference }
