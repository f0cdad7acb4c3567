import { canonicalJson } from '../values/canonical-json.ts'
import {
  decodeObject,
  isObject,
  isUnusable,
  type JsonObject,
  problem,
  toBase64url,
  type Unusable,
} from './base64url.ts'
import type { Challenge } from './challenge.ts'

/** What a challenge with the intent `charge` asks for. */
export interface ChargeRequest {
  /** In the smallest unit of the currency: cents of a euro. */
  readonly amount: bigint
  /** ISO 4217 in small letters. */
  readonly currency: string
  readonly recipient?: string
  readonly description?: string
  readonly externalId?: string
  readonly methodDetails: JsonObject
}

/** What a peer takes, too. */
const LONGEST_REQUEST = 16_384
const LONGEST_TEXT = 4_096

/** The parameter `request`: base64url of the canonical JSON. */
export const encodeRequest = (request: object): string => toBase64url(canonicalJson(request))

/** Decodes what a challenge asks for, or says why that cannot be paid. */
export function requestOf({ request }: Challenge): ChargeRequest | Unusable {
  if (request.length > LONGEST_REQUEST)
    return problem(`The request of the challenge has more than ${LONGEST_REQUEST} characters.`)
  const given = decodeObject('The request of the challenge', request)
  return isUnusable(given) ? given : chargeOf(given)
}

function chargeOf(given: JsonObject): ChargeRequest | Unusable {
  const { amount, currency, methodDetails = {} } = given
  if (typeof amount !== 'string' || !/^[1-9]\d{0,14}$/.test(amount))
    return problem('The amount of the challenge is no number of cents above zero, as digits in a text.')
  if (typeof currency !== 'string' || !/^[a-z]{3}$/.test(currency))
    return problem('The currency of the challenge is no code of ISO 4217 in small letters.')
  if (!isObject(methodDetails)) return problem('The methodDetails of the challenge are no JSON object.')
  const texts = textsOf(given, ['recipient', 'description', 'externalId'])
  if (isUnusable(texts)) return texts
  return { amount: BigInt(amount), currency, ...texts, methodDetails }
}

/** The members that are present, each a text of bounded length. */
function textsOf(given: JsonObject, names: readonly string[]): Readonly<Record<string, string>> | Unusable {
  const present = names.filter(name => given[name] !== undefined && given[name] !== null)
  const wrong = present.find(
    name => typeof given[name] !== 'string' || String(given[name]).length > LONGEST_TEXT,
  )
  if (wrong) return problem(`The ${wrong} of the challenge is no text of at most ${LONGEST_TEXT} characters.`)
  return Object.fromEntries(present.map(name => [name, String(given[name])]))
}
