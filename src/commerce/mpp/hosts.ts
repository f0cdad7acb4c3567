import { isIP } from 'node:net'
import { domainToUnicode } from 'node:url'
import { hostInText, normalizeMerchant, patternProblem } from '../../control/merchants/index.ts'
import { countries } from '../../values/countries.ts'

/** Public suffixes under which everyone can have a host, so a shared parent does not show a common owner. */
const SHARED = new Set(
  (
    'amazonaws.com appspot.com azurewebsites.net blogspot.com cloudfront.net firebaseapp.com fly.dev github.io gitlab.io ' +
    'glitch.me herokuapp.com myshopify.com netlify.app ngrok.app ngrok.io onrender.com pages.dev railway.app render.com ' +
    'repl.co replit.app run.app surge.sh vercel.app web.app wixsite.com wordpress.com workers.dev'
  ).split(' '),
)

const MAPPED = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/

/** Gives each host one spelling, without a trailing dot, and without an IPv4 address in IPv6 form. */
export function canonicalHost(url: URL): string {
  const host = url.hostname.replace(/\.$/, '')
  const mapped = MAPPED.exec(host)
  if (!mapped) return host
  const [high = 0, low = 0] = mapped.slice(1).map(part => Number.parseInt(part, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The host, with its port if that is not the default of the scheme. */
export const merchantHost = (url: URL): string =>
  url.port === '' ? canonicalHost(url) : `${canonicalHost(url)}:${url.port}`

export const isIpAddress = (host: string): boolean => isIP(host.replace(/^\[|\]$/g, '')) > 0

/** Finds the IP address in a text. `2130706433` counts as a name, although browsers read it as 127.0.0.1. */
function addressIn(text: string): string | undefined {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `http://${text}`)
  if (!url || !isIpAddress(url.hostname) || !text.includes(url.hostname)) return undefined
  return canonicalHost(url)
}

const namedHost = (text: string): string | undefined => hostInText(text) ?? addressIn(text.trim())

/** Generic top-level domains of shops, and those reserved for tests. Country codes are checked separately. */
const TOP_LEVEL = new Set(
  (
    'com net org info biz name pro edu gov int eu uk agency app art bank blog business center cloud club company dev digital ' +
    'email events finance food fun games global group help host hotel life link live ltd market media network news one online ' +
    'page pay plus run sale services shop shopping site software solutions space store studio support systems team tech tickets ' +
    'today top tools travel trade video vip web website wiki work works world xyz zone example invalid localhost test'
  ).split(' '),
)

/**
 * Finds the host in a merchant's name; undefined for a name in words. `Dr.Oetker` and `Node.js` look like
 * hosts but do not end in a top-level domain.
 */
export function hostInMerchantName(name: string): string | undefined {
  const named = namedHost(name)
  if (named === undefined || isIpAddress(named) || name.includes('//')) return named
  const last = named.slice(named.lastIndexOf('.') + 1)
  const isHost = TOP_LEVEL.has(last) || countries.has(last.toUpperCase()) || last.startsWith('xn--')
  return isHost ? named : undefined
}

export const isSharedDomain = (domain: string): boolean =>
  SHARED.has(domain) || patternProblem(`*.${domain}`) !== undefined

const isSubdomain = (host: string, domain: string): boolean =>
  !isIpAddress(host) && host.endsWith(`.${domain}`) && !isSharedDomain(domain)

function registeredDomain(host: string): string {
  const labels = host.split('.')
  return labels.slice(isSharedDomain(labels.slice(-2).join('.')) ? -3 : -2).join('.')
}

const registeredLabel = (host: string): string | undefined =>
  isIpAddress(host) ? undefined : registeredDomain(host).split('.')[0]

/**
 * Whether two hosts belong to one site: one is below the other, or both are below a registered domain. On a
 * platform, where a label may be a region instead of an owner, sibling hosts are different sites.
 */
export function isSameSite(one: string, other: string): boolean {
  if (one === other || isSubdomain(one, other) || isSubdomain(other, one)) return true
  if (isIpAddress(one) || isIpAddress(other)) return false
  const domain = registeredDomain(one)
  const parent = domain.slice(domain.indexOf('.') + 1)
  return domain === registeredDomain(other) && !SHARED.has(parent)
}

const plainName = (text: string): string => normalizeMerchant(text).replace(/[\s\p{P}\p{S}]/gu, '')

/** The name `Example` belongs to `pay.example.com`, but not to `example.evil.com`. */
function isOwnName(name: string, host: string): boolean {
  const label = registeredLabel(domainToUnicode(host) || host)
  const plain = plainName(name)
  return label !== undefined && plain !== '' && plainName(label) === plain
}

/**
 * Whether the requested host is the intent's merchant. A host includes all hosts below it. A name in words
 * must be the host's own, or an allow rule must cover the host, since a merchant's own claim proves nothing.
 */
export function isIntentMerchant(merchant: string, url: URL, isAllowed: boolean): boolean {
  const host = canonicalHost(url)
  const named = namedHost(merchant)
  if (named !== undefined) return named === host || isSubdomain(host, named)
  return isAllowed || isOwnName(merchant, host)
}

export const otherMerchantMessage = (merchant: string, url: URL): string =>
  namedHost(merchant) === undefined
    ? `url: the intent is for ${merchant}, and nothing proves that ${canonicalHost(url)} is that merchant. Declare the intent for ${canonicalHost(url)}, or have the owner allow that host: POST /mpp/protect.`
    : `url: the intent is for ${merchant}, not for ${canonicalHost(url)}. The payee is the requested host: declare the intent for it.`
