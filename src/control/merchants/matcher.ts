import { hash } from 'node:crypto'
import { domainToUnicode } from 'node:url'
import { memoizeBounded } from '../../values/bounded-cache.ts'
import { normalizeIban } from '../../values/iban.ts'
import { acceptorNames, type CardAcceptor } from './card-acceptor.ts'
import { confusableSkeleton, hasInvisibleCharacter } from './confusables.ts'
import { resolveDescriptor } from './descriptors.ts'
import {
  hostInText,
  ibanProblemIn,
  looksLikeIban,
  namesOfBlocklistPattern,
  type ParsedDescriptor,
  parseDescriptor,
  possibleMerchantNames,
} from './names.ts'

/** ASCII words with one space between them, as most names are. They need no normalization. */
const plainText = /^[!-~]+(?: [!-~]+)*$/

const foldName = (text: string): string => {
  const lowerCase = text.toLowerCase()
  if (plainText.test(lowerCase)) return lowerCase
  return lowerCase.trim().replace(/\s+/g, ' ').normalize('NFC').replaceAll('ß', 'ss').replaceAll('ς', 'σ')
}

/** One key for all spellings of a merchant: the host of a URL, or the name regardless of case. */
export const normalizeMerchant = (name: string): string => hostInText(name) ?? foldName(name)

interface Normalization {
  readonly host: (host: string) => string
  readonly name: (name: string) => string
}

const bySpelling: Normalization = { host: host => host, name: foldName }

const byAppearance: Normalization = {
  host: host => confusableSkeleton(host.includes('xn--') ? domainToUnicode(host) : host),
  name: name => confusableSkeleton(name).replace(/[\s\p{P}]/gu, '') || foldName(name),
}

export function merchantSkeleton(merchant: string): string {
  const host = hostInText(merchant)
  return host ? byAppearance.host(host) : byAppearance.name(merchant)
}

/** The domain of a pattern such as `*.example.com`; undefined for any other pattern. */
const wildcardOf = (pattern: string): string | undefined => {
  const trimmed = pattern.trim()
  return trimmed.startsWith('*.') ? hostInText(trimmed.slice(2)) : undefined
}

type Positions = Map<string, number>
const NO_MATCH = Number.POSITIVE_INFINITY

class PatternIndex {
  readonly #normalization: Normalization
  readonly #names: Positions = new Map()
  readonly #hosts: Positions = new Map()
  readonly #domains: Positions = new Map()

  constructor(normalization: Normalization) {
    this.#normalization = normalization
  }

  add(pattern: string, position: number): void {
    const domain = wildcardOf(pattern)
    const host = hostInText(pattern)
    if (domain) this.#domains.set(this.#normalization.host(domain), position)
    else if (host) this.#hosts.set(this.#normalization.host(host), position)
    // When appearance counts, a host is also a name, since `Booking com` looks like booking.com.
    if (!domain && (!host || this.#normalization === byAppearance))
      this.#names.set(this.#normalization.name(pattern), position)
  }

  positionOf(merchant: string): number {
    const host = hostInText(merchant)
    if (!host) return this.#names.get(this.#normalization.name(merchant)) ?? NO_MATCH
    const key = this.#normalization.host(host)
    let position = this.#hosts.get(key) ?? NO_MATCH
    for (let dot = key.indexOf('.'); dot > 0; dot = key.indexOf('.', dot + 1))
      position = Math.min(position, this.#domains.get(key.slice(dot + 1)) ?? NO_MATCH)
    return position
  }
}

interface MatcherOptions {
  /**
   * Whether a merchant also matches a pattern by appearance, or by any of the names in its text. Blocklists
   * need this, so that a Cyrillic `а` or a processor's prefix does not get around them. Allowlists must not
   * use it, since a merchant that looks like an allowed one would be paid.
   */
  readonly lookalikes?: boolean
}

interface ListReading {
  readonly normalizations: readonly Normalization[]
  readonly namesOfPattern: (pattern: string) => Iterable<string>
  readonly namesOfMerchant: (merchant: string) => readonly string[]
}

/** Includes the processor, since another processor may have another customer of the same name. */
const keyWithProcessor = ({ name, processor }: ParsedDescriptor): string =>
  processor === null ? name : `${processor} *${normalizeMerchant(name)}`

const allowlistReading: ListReading = {
  normalizations: [bySpelling],
  namesOfPattern: pattern =>
    pattern.includes('*') ? [pattern, keyWithProcessor(parseDescriptor(pattern))] : [pattern],
  namesOfMerchant(merchant) {
    if (!merchant.includes('*')) return [merchant]
    const named = parseDescriptor(merchant)
    return [merchant, named.name, keyWithProcessor(named)]
  },
}

const namesInDescriptor = memoizeBounded((descriptor: string): readonly string[] => {
  const { names } = acceptorNames({ descriptor, city: null, country: null })
  return [...new Set([...possibleMerchantNames(descriptor), ...names])]
})

const blocklistReading: ListReading = {
  normalizations: [bySpelling, byAppearance],
  namesOfPattern: namesOfBlocklistPattern,
  namesOfMerchant: namesInDescriptor,
}

/** The first of equal patterns wins, so they are set from the last to the first. */
function ibanPositions(patterns: readonly string[]): Positions {
  const entries = patterns.map((pattern, position) => [pattern, position] as const)
  const ibans = entries.filter(([pattern]) => looksLikeIban(pattern))
  return new Map(ibans.reverse().map(([pattern, position]) => [normalizeIban(pattern), position]))
}

/**
 * Returns a function that finds the first pattern that a payee matches. A name matches the same name
 * regardless of case; a host, bare or in a URL, matches that host; `*.example.com` matches every host below
 * example.com, but not example.com; an IBAN matches the account. Descriptors are resolved on both sides: `SQ
 * *BOOKSHOP` and `BOOKSHOP*1234` match Bookshop.
 */
export function payeeMatcher(
  patterns: readonly string[],
  { lookalikes = false }: MatcherOptions = {},
): (merchant: string, iban?: string | null) => string | undefined {
  const reading = lookalikes ? blocklistReading : allowlistReading
  const ibans = ibanPositions(patterns)
  const indexes = reading.normalizations.map(normalization => new PatternIndex(normalization))
  const names = [...patterns.entries()].flatMap(([position, pattern]) =>
    looksLikeIban(pattern) ? [] : [...reading.namesOfPattern(pattern)].map(name => [name, position] as const),
  )
  for (const [name, position] of names.reverse()) for (const index of indexes) index.add(name, position)
  // An IBAN in the name does not prove that the account is paid. It can block a payee, but never allow one.
  const ibansInName = (merchant: string): string[] =>
    lookalikes && ibans.size > 0 ? [normalizeIban(merchant)] : []
  return (merchant, iban) => {
    const byName = reading
      .namesOfMerchant(merchant)
      .flatMap(name => indexes.map(index => index.positionOf(name)))
    const byIban = [iban ?? '', ...ibansInName(merchant)].map(number => ibans.get(number) ?? NO_MATCH)
    return patterns[Math.min(...byName, ...byIban)]
  }
}

export function isSameMerchant(bound: string, merchant: string): boolean {
  if (bound === merchant || normalizeMerchant(bound) === normalizeMerchant(merchant)) return true
  if (!merchant.includes('*') && !bound.includes('*')) return false
  const wanted = parseDescriptor(bound)
  const named = parseDescriptor(merchant)
  const hasSameProcessor = wanted.processor === null || wanted.processor === named.processor
  return hasSameProcessor && normalizeMerchant(wanted.name) === normalizeMerchant(named.name)
}

export const isSamePayee = (bound: string, merchant: string, iban: string | null | undefined): boolean =>
  looksLikeIban(bound) ? normalizeIban(bound) === iban : isSameMerchant(bound, merchant)

/** Labels below which anyone can register in a country's domain: `co.uk`, `com.au`. */
const publicLabels = new Set(['ac', 'co', 'com', 'edu', 'gov', 'gob', 'go', 'ne', 'net', 'or', 'org'])

type PatternCheck = readonly [hasProblem: (pattern: string) => boolean, problem: string]

const checks: readonly PatternCheck[] = [
  [pattern => pattern === '', 'is empty; leave it out'],
  [hasInvisibleCharacter, 'contains invisible characters; type it again'],
  [pattern => pattern === '*', 'a lone asterisk matches every merchant; leave the list empty for no rule'],
  [
    pattern =>
      pattern.includes('*') && !/^\*\.[^*]+$/.test(pattern) && parseDescriptor(pattern).name.includes('*'),
    'an asterisk is allowed only in front of a host, as in *.example.com, or as in card statements: SQ *BOOKSHOP',
  ],
  [
    pattern => pattern.startsWith('*.') && isTooWide(pattern),
    'names no domain of one owner; write it as in *.example.com',
  ],
  [
    pattern => hostInText(pattern) !== undefined && /[/:?#\\]/.test(pattern),
    'is more than a host; write the host alone, as in shop.example.com',
  ],
]

function isTooWide(pattern: string): boolean {
  const domain = wildcardOf(pattern)
  if (domain === undefined) return true
  const [label = '', country = '', ...more] = domain.split('.')
  return more.length === 0 && country.length === 2 && publicLabels.has(label)
}

export function patternProblem(pattern: string): string | undefined {
  const trimmed = pattern.trim()
  const problem = checks.find(([hasProblem]) => hasProblem(trimmed))?.[1]
  if (problem) return problem
  const ibanProblem = looksLikeIban(trimmed) ? ibanProblemIn(trimmed) : undefined
  return ibanProblem && `looks like an IBAN, and is none: ${ibanProblem}`
}

/** Short because it is indexed. The key is the same for every spelling of a merchant. */
export const merchantKey = (merchant: string): string =>
  hash('sha256', normalizeMerchant(merchant), 'base64url').slice(0, 22)

const withoutWww = (host: string): string => host.replace(/^www\./, '')

export const intentMerchantKey = (merchant: string): string =>
  merchantKey(withoutWww(hostInText(merchant) ?? merchant))

interface NetworkMerchant extends CardAcceptor {
  readonly url: string | null
}

interface PayableBy {
  readonly merchantKeys: readonly string[]
  readonly truncatedName: string | null
}

/** A merchant may have been declared by one of the names that its descriptor proves, or by its host. */
export function payableBy(merchant: NetworkMerchant): PayableBy {
  const host = merchant.url === null ? undefined : hostInText(merchant.url)
  const { names, truncated } = acceptorNames(merchant)
  const keys = [...names, ...(host ? [host] : [])].map(intentMerchantKey)
  return { merchantKeys: [...new Set(keys)], truncatedName: truncated }
}

/** Whether a payee was declared by such a name, or by one of which it is the beginning. */
export const isPayableBy = (
  { merchant, merchantKey }: { readonly merchant: string; readonly merchantKey: string },
  { merchantKeys, truncatedName: cut }: PayableBy,
): boolean =>
  merchantKeys.includes(merchantKey) ||
  (cut !== null && merchant.length > cut.length && merchant.toLowerCase().startsWith(cut))

/** A refund gives money back, so the most likely name of its merchant is enough. */
export const refundableKeys = (merchant: NetworkMerchant): string[] => [
  ...new Set([
    ...payableBy(merchant).merchantKeys,
    intentMerchantKey(merchantNameOfDescriptor(merchant.descriptor)),
  ]),
]

export const merchantNameOfDescriptor = (descriptor: string): string => resolveDescriptor(descriptor).name
