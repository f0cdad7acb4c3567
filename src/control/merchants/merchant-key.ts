import { hash } from 'node:crypto'
import { resolveDescriptor } from './descriptors.ts'
import { hostOf } from './hosts.ts'
import { foldMerchant } from './matcher.ts'
import { namedMerchant } from './names.ts'

/** The same short key for every spelling of a merchant: it is indexed. */
export const merchantKey = (merchant: string): string =>
  hash('sha256', foldMerchant(merchant), 'base64url').slice(0, 22)

const withoutWww = (host: string): string => host.replace(/^www\./, '')

/** The key by which a payment of the card network finds what was declared for this merchant. */
export const payableKey = (merchant: string): string => merchantKey(withoutWww(hostOf(merchant) ?? merchant))

/** A merchant as a card network names it. */
export interface NetworkMerchant {
  readonly descriptor: string
  readonly url: string | null
}

/** The keys under which a merchant may have been declared: its descriptor, the name in that, and its host. */
export function payableKeys({ descriptor, url }: NetworkMerchant): string[] {
  const host = url === null ? undefined : hostOf(url)
  const names = [descriptor, namedMerchant(descriptor).name, resolveDescriptor(descriptor).name]
  return [...new Set([...names, ...(host ? [host] : [])].map(payableKey))]
}

/** The name to show for a merchant of the network: what its descriptor means. */
export const nameOfDescriptor = (descriptor: string): string => resolveDescriptor(descriptor).name
