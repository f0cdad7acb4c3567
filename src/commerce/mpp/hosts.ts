import { isIP } from 'node:net'
import { hostOf, patternProblem } from '../../control/merchants/index.ts'

/** Below these names anybody can have a host: what lies above it says nothing about its owner. */
const SHARED = new Set(
  (
    'amazonaws.com appspot.com azurewebsites.net blogspot.com cloudfront.net firebaseapp.com fly.dev github.io gitlab.io ' +
    'glitch.me herokuapp.com myshopify.com netlify.app ngrok.app ngrok.io onrender.com pages.dev railway.app render.com ' +
    'repl.co replit.app run.app surge.sh vercel.app web.app wixsite.com wordpress.com workers.dev'
  ).split(' '),
)

const MAPPED = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/

/** One spelling for each host: no dot at the end, and no IPv4 address in the form of an IPv6 one. */
export function plainHost(url: URL): string {
  const host = url.hostname.replace(/\.$/, '')
  const mapped = MAPPED.exec(host)
  if (!mapped) return host
  const [high = 0, low = 0] = mapped.slice(1).map(part => Number.parseInt(part, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The host with its port, where that is not the usual one of the scheme. */
export const merchantOf = (url: URL): string =>
  url.port === '' ? plainHost(url) : `${plainHost(url)}:${url.port}`

export const isAddress = (host: string): boolean => isIP(host.replace(/^\[|\]$/g, '')) > 0

/** The address that a text names literally: `2130706433` is a name, though browsers read 127.0.0.1 in it. */
function addressIn(text: string): string | undefined {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `http://${text}`)
  if (!url || !isAddress(url.hostname) || !text.includes(url.hostname)) return undefined
  return plainHost(url)
}

/** The host that a text names, by name or by address; undefined for any other text. */
export const namedHost = (text: string): string | undefined => hostOf(text) ?? addressIn(text.trim())

/** Whether hosts of many owners lie below this name. */
export const isShared = (domain: string): boolean =>
  SHARED.has(domain) || patternProblem(`*.${domain}`) !== undefined

/** Whether a host lies below a domain of one owner. */
export const isBelow = (host: string, domain: string): boolean =>
  !isAddress(host) && host.endsWith(`.${domain}`) && !isShared(domain)

/** The label that the owner of a host has registered: `example` of `pay.example.co.uk`. */
export function registeredLabel(host: string): string | undefined {
  if (isAddress(host)) return undefined
  const labels = host.split('.')
  if (labels.length === 1) return labels[0]
  const isBelowShared = labels.length > 2 && isShared(labels.slice(-2).join('.'))
  return labels.at(isBelowShared ? -3 : -2)
}
