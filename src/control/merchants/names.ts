import { memoizeBounded } from '../../values/bounded-cache.ts'
import { ibanProblem, normalizeIban } from '../../values/iban.ts'
import { knownMerchantName, noiseTrimmingSteps, resolveDescriptor } from './descriptors.ts'
import { stripProcessorPrefixes, withoutLegalForm } from './noise.ts'

const dots = /[.。．｡]/
/** A URL scheme as browsers read it, with any number of slashes of either kind. */
const scheme = /^(?:https?:[/\\]*|(?:[a-z][a-z\d+.-]*:)?\/\/)/i

/** At least two labels, and the last is a word, since a version or an amount is not a host. */
const wellFormed = /^[a-z\d_-]+(?:\.[a-z\d_-]+)*\.[a-z][a-z\d-]+$/

/**
 * The host in a text, bare or in a URL, as DNS knows it: lower case, punycode, no port, no trailing dot.
 * Undefined for any other text.
 */
export function hostInText(text: string): string | undefined {
  if (!dots.test(text)) return undefined
  const trimmed = text.trim()
  const lowerCase = trimmed.toLowerCase()
  if (wellFormed.test(lowerCase) && !lowerCase.includes('xn--')) return lowerCase
  const withoutScheme = trimmed.replace(scheme, '')
  const [authority = ''] = withoutScheme.split(/[/?#\\]/, 1)
  // A bare host with a user name is an e-mail address.
  const isBare = withoutScheme === trimmed
  if (/\s/.test(authority) || (isBare && authority.includes('@'))) return undefined
  const host = URL.parse(`https://${withoutScheme}`)?.hostname.replace(/\.$/, '')
  return host && wellFormed.test(host) ? host : undefined
}

const asterisks = /[*＊﹡∗⁎✱٭]/u

const hasLetter = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

export interface ParsedDescriptor {
  readonly name: string
  readonly processor: string | null
}

/**
 * Removes only processors and a trailing number, so that an allowlist can rely on the name. `Bookshop*Casino`
 * stays whole, since the text before an asterisk proves nothing.
 */
export function parseDescriptor(text: string): ParsedDescriptor {
  if (!text.includes('*')) return { name: text, processor: null }
  const { text: inner, processors } = stripProcessorPrefixes(text)
  const name = inner.replace(/\s*\*\s*\d[\d\s./-]*$/, '')
  return name ? { name, processor: processors.at(-1) ?? null } : { name: text, processor: null }
}

/**
 * Every name that a descriptor can mean: the whole text, its parts, each with more and more noise removed,
 * and the processors. A blocklist compares them all, so a blocked merchant is not paid under any of these
 * names.
 */
export const possibleMerchantNames = memoizeBounded((text: string): readonly string[] => {
  if (hostInText(text)) return [text]
  const { text: inner, processors } = stripProcessorPrefixes(text)
  const names = new Set([text, ...processors, resolveDescriptor(text).name])
  for (const part of [inner, ...text.split(asterisks)].map(half => half.trim()).filter(hasLetter)) {
    names.add(part)
    if (!hostInText(part)) for (const words of noiseTrimmingSteps(part)) names.add(words.join(' '))
  }
  return [...names]
})

/** Yields few names per pattern of a blocklist, because a list may be long. */
export function namesOfBlocklistPattern(pattern: string): ReadonlySet<string> {
  const { name } = parseDescriptor(pattern)
  return new Set([pattern, name, withoutLegalForm(name), knownMerchantName(name) ?? name])
}

export const looksLikeIban = (text: string): boolean =>
  /^\s*[A-Za-z]{2}\s*\d/.test(text) &&
  /^[A-Z]{2}\d{2}(?=(?:[A-Z]*\d){8})[A-Z0-9]{11,30}$/.test(normalizeIban(text))

export const ibanProblemIn = (text: string): string | undefined => ibanProblem(normalizeIban(text))
