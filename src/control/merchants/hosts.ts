const dots = /[.。．｡]/
/** The scheme of a web address as browsers read it: with any number of slashes of either kind. */
const scheme = /^(?:https?:[/\\]*|(?:[a-z][a-z\d+.-]*:)?\/\/)/i

/** At least two labels, the last of which is a word: a version or an amount is no host. */
const wellFormed = /^[a-z\d_-]+(?:\.[a-z\d_-]+)*\.[a-z][a-z\d-]+$/

/**
 * The host that a text names, bare or in a URL, as DNS knows it: small letters, punycode, no port, no dot at the end.
 * Undefined for any other text.
 */
export function hostOf(text: string): string | undefined {
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
