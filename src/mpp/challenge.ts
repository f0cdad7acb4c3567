import { createHmac, timingSafeEqual } from 'node:crypto'
import { type AuthChallenge, readAuthChallenges } from './auth-challenges.ts'
import { isStorable, isUnusableInput, type UnusableInput, unusableInput } from './base64url.ts'

/** Everything except printable Latin-1, the characters that HTTP carries in a field value. */
const OUTSIDE = /[^\u0020-\u007e\u00a0-\u00ff]/gu
const CONTROL = /\p{Cc}/u
/** Needs no escape within quotes: no quote, no backslash, no control character. */
const PLAIN = /^[ !#-[\]-~\u00a0-\u00ff]*$/

const lookalikes: Readonly<Record<string, string>> = {
  '–': '-',
  '—': '-',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '…': '...',
  '€': 'EUR',
}

/** Characters beyond Latin-1 are replaced by their nearest letters, or by `?`. */
export const toHeaderText = (text: string): string =>
  text.normalize('NFC').replace(OUTSIDE, character => lookalikes[character] ?? withoutMarks(character))

function withoutMarks(character: string): string {
  if (CONTROL.test(character)) return ' '
  const base = character.normalize('NFKD').replace(/\p{M}/gu, '')
  return /^[\u0020-\u007e]+$/.test(base) ? base : '?'
}

/**
 * A quoted string of RFC 9110. Characters beyond Latin-1 are escaped as mppx does, so no value is lost. A
 * control character could end the header and begin another: a value with one is a defect of the caller.
 */
function quoted(value: string): string {
  if (PLAIN.test(value)) return `"${value}"`
  if (CONTROL.test(value)) throw new RangeError('a header cannot hold control characters')
  const escaped = value
    .replace(/["\\]/g, '\\$&')
    .replace(/[\u0100-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `"${escaped}"`
}

/** The parameters are kept unchanged, since a credential echoes them. */
export interface PaymentChallenge {
  readonly id: string
  readonly realm: string
  readonly method: string
  readonly intent: string
  readonly request: string
  readonly expires?: string
  readonly digest?: string
  readonly description?: string
  readonly opaque?: string
  readonly header?: string
}

export const requiredChallengeParameters = ['id', 'realm', 'method', 'intent', 'request'] as const
export const optionalChallengeParameters = ['description', 'digest', 'expires', 'header', 'opaque'] as const
const names = [...requiredChallengeParameters, ...optionalChallengeParameters] as const

/** Bounds what is read from an answer's headers. No merchant needs more, and reading more would cost processor time. */
const MOST_TEXT = 65_536
const MOST_CHALLENGES = 64
const LONGEST_ID = 1_000

export interface ReadChallenges {
  /** Well-formed challenges; `requestOf` and `readCardDetails` check whether they can be paid. */
  readonly challenges: readonly PaymentChallenge[]
  readonly otherSchemes: readonly string[]
  readonly problems: readonly string[]
}

export function parseChallenges(headers: readonly string[]): ReadChallenges {
  const reading = new ChallengeList()
  let left = MOST_TEXT
  for (const header of headers) {
    if (!reading.goesOn) break
    if (header.length > left) {
      reading.stop(
        `The WWW-Authenticate headers have more than ${MOST_TEXT} characters: the rest was not read.`,
      )
      break
    }
    left -= header.length + 1
    reading.add(header)
  }
  return reading.result
}

class ChallengeList {
  readonly #challenges: PaymentChallenge[] = []
  readonly #otherSchemes = new Set<string>()
  readonly #problems: string[] = []
  #count = 0
  goesOn = true

  get result(): ReadChallenges {
    return {
      challenges: this.#challenges,
      otherSchemes: [...this.#otherSchemes],
      problems: this.#problems,
    }
  }

  add(header: string): void {
    const unreadable = readAuthChallenges(header, challenge => this.#take(challenge))
    if (unreadable) this.#problems.push(`A WWW-Authenticate header cannot be read: ${unreadable.problem}.`)
  }

  stop(why: string): void {
    this.#problems.push(why)
    this.goesOn = false
  }

  #take(challenge: AuthChallenge): boolean {
    this.#count += 1
    if (this.#count > MOST_CHALLENGES)
      this.stop(`There are more than ${MOST_CHALLENGES} challenges: the rest was not read.`)
    else if (challenge.scheme !== 'payment') this.#otherSchemes.add(challenge.scheme)
    else this.#keep(challengeOf(challenge.parameters, challenge.twice))
    return this.goesOn
  }

  #keep(challenge: PaymentChallenge | UnusableInput): void {
    if (isUnusableInput(challenge)) this.#problems.push(challenge.problem)
    else this.#challenges.push(challenge)
  }
}

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/
/** Headers that control the request itself. A merchant that named one of them would change the request. */
const CONTROL_HEADERS =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|cookie|accept-encoding)$/i

function challengeOf(
  given: ReadonlyMap<string, string>,
  twice: string | undefined,
): PaymentChallenge | UnusableInput {
  if (twice !== undefined) return unusableInput(`A Payment challenge has its parameter ${twice} twice.`)
  const missing = requiredChallengeParameters.find(name => !given.get(name))
  if (missing) return unusableInput(`A Payment challenge has no ${missing}.`)
  if ((given.get('id') ?? '').length > LONGEST_ID)
    return unusableInput(`A Payment challenge has an id of more than ${LONGEST_ID} characters.`)
  const unstorable = names.find(name => !isStorable(given.get(name) ?? ''))
  if (unstorable)
    return unusableInput(`The ${unstorable} of a Payment challenge has a character that cannot be stored.`)
  const header = given.get('header')
  if (header !== undefined && (!FIELD_NAME.test(header) || CONTROL_HEADERS.test(header)))
    return unusableInput('A Payment challenge names a header that cannot carry the credential.')
  return challengeFromParameters(name => given.get(name))
}

export function challengeFromParameters(valueAt: (name: string) => string | undefined): PaymentChallenge {
  const members = names.flatMap(name => {
    const value = valueAt(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(members) as unknown as PaymentChallenge
}

export function serializeChallenge(challenge: PaymentChallenge): string {
  const parameters = names.flatMap(name => {
    const value = challenge[name]
    return value === undefined ? [] : [`${name}=${quoted(value)}`]
  })
  return `Payment ${parameters.join(', ')}`
}

export const credentialHeaderOf = (challenge: PaymentChallenge): string => challenge.header ?? 'Authorization'

/** What an id binds: every offered parameter except the description, which is for people. */
export type BoundChallenge = Omit<PaymentChallenge, 'id' | 'description'>

/**
 * An HMAC-SHA256 over the parameters in fixed positions, an absent one empty. `header` has a position only if
 * it is not `Authorization`.
 */
export function computeChallengeId(secret: string | Uint8Array, offer: BoundChallenge): string {
  const { realm, method, intent, request, expires = '', digest = '', header, opaque = '' } = offer
  const isDefault = header === undefined || header.toLowerCase() === 'authorization'
  const places = [realm, method, intent, request, expires, digest, ...(isDefault ? [] : [header]), opaque]
  return createHmac('sha256', secret).update(places.join('|')).digest('base64url')
}

/** Compares in constant time. */
export function isOwnChallenge(secret: string | Uint8Array, challenge: PaymentChallenge): boolean {
  const given = Buffer.from(challenge.id)
  const made = Buffer.from(computeChallengeId(secret, challenge))
  return given.length === made.length && timingSafeEqual(given, made)
}
