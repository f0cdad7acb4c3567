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

/** For each key the place of the first pattern that has it. */
class Places {
  readonly #places = new Map<string, number>()

  add(key: string, place: number): void {
    if (!this.#places.has(key)) this.#places.set(key, place)
  }

  at(key: string): number {
    return this.#places.get(key) ?? Number.POSITIVE_INFINITY
  }
}

/** The host under which `*.example.com` takes all. */
export const wildcardOf = (pattern: string): string | undefined => {
  const trimmed = pattern.trim()
  return trimmed.startsWith('*.') ? hostOf(trimmed.slice(2)) : undefined
}

export interface MatcherOptions {
  /**
   * Whether what only looks like a pattern matches it. For what is refused: nobody slips through a blocklist with a
   * Cyrillic `а`. Never for what is admitted: there it would open the door to whoever makes himself look like another.
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
  const reading = lookalikes ? seen : written
  const names = new Places()
  const hosts = new Places()
  const domains = new Places()
  for (const [place, pattern] of patterns.entries()) {
    const domain = wildcardOf(pattern)
    const host = hostOf(pattern)
    if (domain) domains.add(reading.host(domain), place)
    else if (host) hosts.add(reading.host(host), place)
    else names.add(reading.name(pattern), place)
    if (host && lookalikes) names.add(reading.name(pattern), place)
  }

  const placeOfHost = (host: string): number => {
    let place = hosts.at(host)
    for (let dot = host.indexOf('.'); dot > 0; dot = host.indexOf('.', dot + 1))
      place = Math.min(place, domains.at(host.slice(dot + 1)))
    return place
  }

  return merchant => {
    const host = hostOf(merchant)
    return patterns[host ? placeOfHost(reading.host(host)) : names.at(reading.name(merchant))]
  }
}
