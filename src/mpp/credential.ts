import { hash, timingSafeEqual } from 'node:crypto'
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
import {
  challengeFromParameters,
  optionalChallengeParameters,
  type PaymentChallenge,
  requiredChallengeParameters,
} from './challenge.ts'

export interface PaymentCredential {
  readonly challenge: PaymentChallenge
  readonly source?: string
  readonly payload: JsonObject
}

/** Ten times what a request, a wrapped token and their names need. */
const LONGEST = 65_536

/** The header's value. It is a secret, of which only a digest is stored. */
export const serializeCredential = (credential: PaymentCredential): string =>
  `Payment ${toBase64url(JSON.stringify(credential))}`

function encodedPart(value: string): string | undefined {
  const [, encoded] = /^[ \t]*payment[ \t]+([^ \t,]+)[ \t]*$/i.exec(value) ?? []
  return encoded
}

export const isPaymentScheme = (value: string): boolean => /^[ \t]*payment(?:[ \t]|$)/i.test(value)

/** Identifies a credential regardless of the spelling of scheme and spaces. */
export const credentialDigest = (value: string): string =>
  hash('sha256', encodedPart(value.slice(0, LONGEST)) ?? value, 'base64url')

/** Parses an `Authorization` or `Payment-Authorization` header. The sentence of a problem repeats nothing of the value. */
export function parseCredential(value: string): PaymentCredential | UnusableInput {
  if (value.length > LONGEST) return unusableInput(`The credential has more than ${LONGEST} characters.`)
  const encoded = encodedPart(value)
  if (encoded === undefined)
    return unusableInput('The header does not contain exactly one credential of the scheme Payment.')
  const given = decodeBase64urlObject('The credential', encoded)
  if (isUnusableInput(given)) return given
  const { challenge, source, payload } = given
  if (!isJsonObject(challenge)) return unusableInput('The credential echoes no challenge.')
  if (!isJsonObject(payload)) return unusableInput('The credential has no payload.')
  if (source !== undefined && typeof source !== 'string')
    return unusableInput('The source of the credential is not a string.')
  const echoed = echoOf(challenge)
  if (isUnusableInput(echoed)) return echoed
  return { challenge: echoed, ...(source === undefined ? {} : { source }), payload }
}

function echoOf(given: JsonObject): PaymentChallenge | UnusableInput {
  const opaque = opaqueOf(given.opaque)
  if (opaque !== undefined && typeof opaque !== 'string') return opaque
  const values: JsonObject = { ...given, opaque }
  const missing = requiredChallengeParameters.find(
    name => typeof values[name] !== 'string' || values[name] === '',
  )
  if (missing) return unusableInput(`The challenge in the credential has no ${missing}.`)
  if (!isStorable(String(values.id)))
    return unusableInput('The id of the challenge in the credential has a character that cannot be stored.')
  const wrong = optionalChallengeParameters.find(
    name => values[name] !== undefined && typeof values[name] !== 'string',
  )
  if (wrong) return unusableInput(`The ${wrong} of the challenge in the credential is not a string.`)
  return challengeFromParameters(name => values[name] as string | undefined)
}

/**
 * Returns `opaque` as it was offered. mpp-card and older versions of mppx echo its decoded content instead of
 * the text.
 */
function opaqueOf(given: unknown): string | undefined | UnusableInput {
  if (given === undefined || typeof given === 'string') return given
  const isRecord =
    isJsonObject(given) &&
    Object.entries(given).every(pair => pair.every(text => typeof text === 'string' && text.isWellFormed()))
  return isRecord
    ? toBase64url(canonicalJson(given))
    : unusableInput(
        'The opaque of the challenge in the credential is neither a string nor an object of strings.',
      )
}

export const contentDigest = (body: string | Uint8Array): string =>
  `sha-256=:${hash('sha256', body, 'base64')}:`

/** SHA-256 in base64 or base64url, with or without the colons of RFC 9530, which other implementations omit. */
const SHA_256 = /^sha-256=:?([A-Za-z0-9+/_-]{43}=?):?$/i

export function matchesContentDigest(header: string, body: string | Uint8Array): boolean {
  const [, given] = SHA_256.exec(header.trim()) ?? []
  if (given === undefined) return false
  return timingSafeEqual(Buffer.from(given, 'base64'), hash('sha256', body, 'buffer'))
}
