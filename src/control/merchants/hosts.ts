const dots = /[.。．｡]/
/** Of the web, as browsers read it: with however many slashes, of either kind. */
const scheme = /^(?:https?:[/\\]*|(?:[a-z][a-z\d+.-]*:)?\/\/)/i

/** At least two labels, and the last one a word: a version or an amount is no host. */
const wellFormed = /^[a-z\d_-]+(?:\.[a-z\d_-]+)*\.[a-z][a-z\d-]+$/

/**
 * The host that a text names, bare or in a URL, as the resolvers of names know it: small letters, punycode, no port,
 * no dot at the end. Undefined where it is the name of somebody.
 */
export function hostOf(text: string): string | undefined {
  if (!dots.test(text)) return undefined
  const whole = text.trim()
  const small = whole.toLowerCase()
  if (wellFormed.test(small) && !small.includes('xn--')) return small
  const host = parsed(whole)
  return host && wellFormed.test(host) ? host : undefined
}

function parsed(whole: string): string | undefined {
  const rest = whole.replace(scheme, '')
  const [authority = ''] = rest.split(/[/?#\\]/, 1)
  // Before a bare host stands nobody's name: that is an address of e-mail.
  const isBare = rest === whole
  if (/\s/.test(authority) || (isBare && authority.includes('@'))) return undefined
  return URL.parse(`https://${rest}`)?.hostname.replace(/\.$/, '')
}
