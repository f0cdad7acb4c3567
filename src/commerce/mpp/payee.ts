import { domainToUnicode } from 'node:url'
import { foldMerchant } from '../../control/merchants/index.ts'
import { isBelow, namedHost, plainHost, registeredLabel } from './hosts.ts'

const plainName = (text: string): string => foldMerchant(text).replace(/[\s\p{P}\p{S}]/gu, '')

/** Whether the owner of a host has registered a name: `Example` is that of `pay.example.com`, not of `example.evil.com`. */
function isOwnName(name: string, host: string): boolean {
  const label = registeredLabel(domainToUnicode(host) || host)
  const plain = plainName(name)
  return label !== undefined && plain !== '' && plainName(label) === plain
}

/**
 * Whether the merchant of an intent is the host that is asked. A host is meant with all below it; a name must be the
 * host's own, or an allow rule must cover the host: the name that a merchant gives itself proves nothing.
 */
export function isPayee(merchant: string, url: URL, isAllowed: boolean): boolean {
  const host = plainHost(url)
  const named = namedHost(merchant)
  if (named !== undefined) return named === host || isBelow(host, named)
  return isAllowed || isOwnName(merchant, host)
}

/** The sentence of a refusal: who is meant by the intent, who was asked, and what to do. */
export const otherPayeeMessage = (merchant: string, url: URL): string =>
  namedHost(merchant) === undefined
    ? `url: the intent is for ${merchant}, and nothing proves that ${plainHost(url)} is that merchant. Declare the intent for ${plainHost(url)}, or let the owner allow that host: POST /mpp/protect.`
    : `url: the intent is for ${merchant}, not for ${plainHost(url)}. The payee is the host that is asked: declare the intent for it.`
