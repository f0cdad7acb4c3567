import { type JsonObject, type UnusableInput, unusableInput } from './base64url.ts'
import type { ChargeRequest } from './charge-request.ts'
import type { PaymentCredential } from './credential.ts'

/** What a challenge of the method `stripe` names: who is paid, and by which payment methods. */
export interface StripeDetails {
  /** The seller's Stripe profile, which alone can charge the token. */
  readonly networkId: string
  readonly paymentMethodTypes: readonly string[]
}

const NAME = /^[\w-]{1,255}$/
const MOST_TYPES = 50

export function readStripeDetails({ methodDetails }: ChargeRequest): StripeDetails | UnusableInput {
  const { networkId, paymentMethodTypes: types } = methodDetails
  if (typeof networkId !== 'string' || !NAME.test(networkId))
    return unusableInput('The challenge names no networkId, which is the Stripe profile of the seller.')
  if (!isTypes(types))
    return unusableInput('The challenge does not name the payment method types that the seller accepts.')
  return { networkId, paymentMethodTypes: types }
}

const isTypes = (given: unknown): given is string[] =>
  Array.isArray(given) &&
  given.length > 0 &&
  given.length <= MOST_TYPES &&
  given.every(type => typeof type === 'string' && NAME.test(type))

/** The shared payment token of a credential, with the seller's reference as the challenge gave it. */
export interface StripePayload {
  readonly spt: string
  readonly externalId?: string
}

const TOKEN = /^spt_[\w-]{1,1000}$/

/** The sentence of a problem repeats nothing of the payload. */
export function readStripePayload({ payload }: PaymentCredential): StripePayload | UnusableInput {
  const { spt, externalId } = payload
  if (typeof spt !== 'string' || !TOKEN.test(spt)) return unusableInput('The credential has no usable spt.')
  if (externalId !== undefined && typeof externalId !== 'string')
    return unusableInput('The externalId of the credential is not a string.')
  return { spt, ...(externalId === undefined ? {} : { externalId }) }
}

/** A seller that names its order in the challenge refuses a credential that does not repeat it. */
export const stripePayload = (spt: string, { externalId }: ChargeRequest): JsonObject & StripePayload => ({
  spt,
  ...(externalId === undefined ? {} : { externalId }),
})
