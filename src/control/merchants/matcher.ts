import { domainToUnicode } from 'node:url'
import { glance } from './confusables.ts'
import { hostOf } from './hosts.ts'

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

  constructor(reading: Reading, patterns: readonly string[]) {
    this.#reading = reading
    for (const [place, pattern] of [...patterns.entries()].reverse()) this.#add(pattern, place)
  }

  #add(pattern: string, place: number): void {
    const domain = wildcardOf(pattern)
    const host = hostOf(pattern)
    if (domain) this.#domains.set(this.#reading.host(domain), place)
    else if (host) this.#hosts.set(this.#reading.host(host), place)
    // At a glance `Booking com` is booking.com.
    if (!domain && (!host || this.#reading === seen)) this.#names.set(this.#reading.name(pattern), place)
  }

  placeOf(merchant: string, host: string | undefined): number {
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
   * Whether what only looks like a pattern matches it too. For what is refused: nobody slips through a blocklist with
   * a Cyrillic `а`. Never for what is admitted: there it would open the door to whoever looks like another.
   */
  readonly lookalikes?: boolean
}

/**
 * Finds the first pattern that a merchant matches. A name matches a name, whatever the case; a host, bare or in a URL,
 * matches that host; `*.example.com` matches every host below example.com, and not that itself.
 */
export function matcher(
  patterns: readonly string[],
  { lookalikes = false }: MatcherOptions = {},
): (merchant: string) => string | undefined {
  const indexes = (lookalikes ? [written, seen] : [written]).map(reading => new Index(reading, patterns))
  return merchant => {
    const host = hostOf(merchant)
    return patterns[Math.min(...indexes.map(index => index.placeOf(merchant, host)))]
  }
}
