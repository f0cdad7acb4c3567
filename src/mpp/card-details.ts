import { isObject } from './base64url.ts'
import type { ChargeRequest } from './charge-request.ts'
import { type MerchantKey, merchantKeyOf, merchantKeyProblem } from './merchant-key.ts'
import { isUnusable, problem, type Unusable } from './unusable.ts'

/** What a challenge of the method `card` says of the merchant. */
export interface CardDetails {
  /** In small letters, as `visa`. */
  readonly acceptedNetworks: readonly string[]
  /** What the merchant says it is called: nobody has checked it. */
  readonly merchantName: string
  readonly key: { readonly encryptionJwk: MerchantKey } | { readonly jwksUri: string; readonly kid: string }
  readonly billingRequired: boolean
}

const NETWORK = /^[a-z0-9]{1,25}$/
const MOST_NETWORKS = 20
const LONGEST_NAME = 200
const LONGEST_URL = 2_000

/** Reads the `methodDetails` of a charge by card, or says why no card can pay it. */
export function cardDetailsOf({ methodDetails }: ChargeRequest): CardDetails | Unusable {
  const { acceptedNetworks: networks, merchantName, billingRequired } = methodDetails
  if (!isNetworks(networks)) return problem('The challenge does not name the card networks that it accepts.')
  if (typeof merchantName !== 'string' || merchantName === '' || merchantName.length > LONGEST_NAME)
    return problem(`The challenge has no merchantName of at most ${LONGEST_NAME} characters.`)
  const key = keyOf(methodDetails)
  if (isUnusable(key)) return key
  return { acceptedNetworks: networks, merchantName, key, billingRequired: billingRequired === true }
}

const isNetworks = (given: unknown): given is string[] =>
  Array.isArray(given) &&
  given.length > 0 &&
  given.length <= MOST_NETWORKS &&
  given.every(network => typeof network === 'string' && NETWORK.test(network))

function keyOf(details: Readonly<Record<string, unknown>>): CardDetails['key'] | Unusable {
  const { encryptionJwk, jwksUri, kid } = details
  if (encryptionJwk !== undefined && jwksUri !== undefined)
    return problem('The challenge gives both encryptionJwk and jwksUri: nobody knows which key is meant.')
  if (encryptionJwk !== undefined) {
    const wrong = merchantKeyProblem(encryptionJwk)
    if (wrong !== undefined || !isObject(encryptionJwk)) return problem(wrong ?? 'The key is no object.')
    return { encryptionJwk: merchantKeyOf(encryptionJwk) }
  }
  if (typeof jwksUri !== 'string' || jwksUri.length > LONGEST_URL || !URL.canParse(jwksUri))
    return problem('The challenge gives no key: neither encryptionJwk nor an address as jwksUri.')
  if (typeof kid !== 'string' || kid === '' || kid.length > 200)
    return problem('The challenge gives a jwksUri without the kid of the key.')
  return { jwksUri, kid }
}
