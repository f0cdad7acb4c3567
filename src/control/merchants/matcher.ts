import { domainToUnicode } from 'node:url'
import { plainIban } from '../../values/iban.ts'
import { glance } from './confusables.ts'
import { hostOf } from './hosts.ts'
import { allNamesIn, looksLikeIban, type Named, namedIn, namesOfPattern } from './names.ts'

/** Words of ASCII with one space between them: most names. */
const plain = /^[!-~]+(?: [!-~]+)*$/

const nameOf = (text: string): string => {
  const small = text.toLowerCase()
  if (plain.test(small)) return small
  return small.trim().replace(/\s+/g, ' ').normalize('NFC').replaceAll('ß', 'ss').replaceAll('ς', 'σ')
}

/** The same for every way to write one merchant: a host, whatever the URL; else the name without its case. */
export const foldMerchant = (name: string): string => hostOf(name) ?? nameOf(name)

/** As it is written, or as it looks. */
interface Reading {
  readonly host: (host: string) => string
  readonly name: (name: string) => string
}

const written: Reading = { host: host => host, name: nameOf }

const seen: Reading = {
  host: host => glance(host.includes('xn--') ? domainToUnicode(host) : host),
  // How the words are set apart is not seen either.
  name: name => glance(name).replace(/[\s\p{P}]/gu, '') || nameOf(name),
}

/** The same for all merchants that can be taken for each other. */
export function lookOf(merchant: string): string {
  const host = hostOf(merchant)
  return host ? seen.host(host) : seen.name(merchant)
}

/** The host under which `*.example.com` takes all. */
export const wildcardOf = (pattern: string): string | undefined => {
  const trimmed = pattern.trim()
  return trimmed.startsWith('*.') ? hostOf(trimmed.slice(2)) : undefined
}

type Places = Map<string, number>
const NOWHERE = Number.POSITIVE_INFINITY

/** The patterns in one reading: for each key the place of the first that has it. */
class Index {
  readonly #reading: Reading
  readonly #names: Places = new Map()
  readonly #hosts: Places = new Map()
  readonly #domains: Places = new Map()

  constructor(reading: Reading) {
    this.#reading = reading
  }

  add(pattern: string, place: number): void {
    const domain = wildcardOf(pattern)
    const host = hostOf(pattern)
    if (domain) this.#domains.set(this.#reading.host(domain), place)
    else if (host) this.#hosts.set(this.#reading.host(host), place)
    // At a glance `Booking com` is booking.com.
    if (!domain && (!host || this.#reading === seen)) this.#names.set(this.#reading.name(pattern), place)
  }

  placeOf(merchant: string): number {
    const host = hostOf(merchant)
    if (!host) return this.#names.get(this.#reading.name(merchant)) ?? NOWHERE
    const key = this.#reading.host(host)
    let place = this.#hosts.get(key) ?? NOWHERE
    for (let dot = key.indexOf('.'); dot > 0; dot = key.indexOf('.', dot + 1))
      place = Math.min(place, this.#domains.get(key.slice(dot + 1)) ?? NOWHERE)
    return place
  }
}

export interface MatcherOptions {
  /**
   * Whether what only looks like a pattern matches it too, or may be the same by one of its names. For what is refused:
   * nobody slips through a blocklist with a Cyrillic `а`, or behind a processor. Never for what is admitted: there it
   * would open the door to whoever looks like another.
   */
  readonly lookalikes?: boolean
}

/** How the texts of patterns and of merchants are taken apart before they are compared. */
interface Names {
  readonly readings: readonly Reading[]
  readonly ofPattern: (pattern: string) => Iterable<string>
  readonly ofMerchant: (merchant: string) => readonly string[]
}

/** One key for the name behind a processor: another processor may have another customer of that name. */
const behind = ({ name, processor }: Named): string =>
  processor === null ? name : `${processor} *${foldMerchant(name)}`

const admitting: Names = {
  readings: [written],
  ofPattern: pattern => (pattern.includes('*') ? [pattern, behind(namedIn(pattern))] : [pattern]),
  ofMerchant(merchant) {
    if (!merchant.includes('*')) return [merchant]
    const named = namedIn(merchant)
    return [merchant, named.name, behind(named)]
  },
}

const refusing: Names = {
  readings: [written, seen],
  ofPattern: namesOfPattern,
  ofMerchant: allNamesIn,
}

/** Accounts by their numbers. */
function accountsIn(patterns: readonly string[]): Places {
  const numbers = patterns.map((pattern, place) => [pattern, place] as const)
  const ibans = numbers.filter(([pattern]) => looksLikeIban(pattern))
  return new Map(ibans.reverse().map(([pattern, place]) => [plainIban(pattern), place]))
}

/**
 * Finds the first pattern that a payee matches. A name matches a name, whatever the case; a host, bare or in a URL,
 * matches that host; `*.example.com` matches every host below example.com, and not that itself; an IBAN matches the
 * account. Texts of statements are resolved on both sides: `SQ *BOOKSHOP` and `BOOKSHOP*1234` are Bookshop.
 */
export function matcher(
  patterns: readonly string[],
  { lookalikes = false }: MatcherOptions = {},
): (merchant: string, iban?: string | null) => string | undefined {
  const { readings, ofPattern, ofMerchant } = lookalikes ? refusing : admitting
  const accounts = accountsIn(patterns)
  const indexes = readings.map(reading => new Index(reading))
  const keys = [...patterns.entries()].flatMap(([place, pattern]) =>
    looksLikeIban(pattern) ? [] : [...ofPattern(pattern)].map(name => [name, place] as const),
  )
  for (const [name, place] of keys.reverse()) for (const index of indexes) index.add(name, place)
  // What is written as a number is no proof of the account: it is refused by it, and not admitted.
  const numbersIn = (merchant: string): string[] =>
    lookalikes && accounts.size > 0 ? [plainIban(merchant)] : []
  return (merchant, iban) => {
    const named = ofMerchant(merchant).flatMap(name => indexes.map(index => index.placeOf(name)))
    const known = [iban ?? '', ...numbersIn(merchant)].map(number => accounts.get(number) ?? NOWHERE)
    return patterns[Math.min(...named, ...known)]
  }
}

/** Whether who is paid is the one that something is good for: as an allowlist of that one would admit it. */
export function sameMerchant(bound: string, merchant: string): boolean {
  if (bound === merchant || foldMerchant(bound) === foldMerchant(merchant)) return true
  if (!merchant.includes('*') && !bound.includes('*')) return false
  const [wanted, named] = [namedIn(bound), namedIn(merchant)]
  const isThrough = wanted.processor === null || wanted.processor === named.processor
  return isThrough && foldMerchant(wanted.name) === foldMerchant(named.name)
}

/** The same where it may be an account. */
export const samePayee = (bound: string, merchant: string, iban: string | null | undefined): boolean =>
  looksLikeIban(bound) ? plainIban(bound) === iban : sameMerchant(bound, merchant)
