import type { Credential } from './credential.ts'
import { problem, type Unusable } from './unusable.ts'

/** What a credential of the method `card` pays with. */
export interface CardPayload {
  /** The network token: a compact JWE for the merchant's key. */
  readonly encryptedPayload: string
  readonly network: string
  readonly panLastFour: string
  readonly panExpirationMonth: string
  readonly panExpirationYear: string
  readonly paymentAccountReference?: string
}

const LONGEST_JWE = 16_384

const shapes = {
  network: /^[a-z0-9]{1,25}$/,
  panLastFour: /^\d{4}$/,
  panExpirationMonth: /^(?:0[1-9]|1[0-2])$/,
  panExpirationYear: /^(?:\d{2}|\d{4})$/,
} as const

const COMPACT_JWE = /^[\w-]+\.[\w-]+\.[\w-]+\.[\w-]+\.[\w-]+$/

/** Reads the payload of a card credential. The sentence of a problem repeats nothing of it. */
export function cardPayloadOf({ payload }: Credential): CardPayload | Unusable {
  const { encryptedPayload: jwe, paymentAccountReference: reference } = payload
  if (typeof jwe !== 'string' || jwe.length > LONGEST_JWE || !COMPACT_JWE.test(jwe))
    return problem('The encryptedPayload of the credential is no compact JWE.')
  const names = Object.keys(shapes) as (keyof typeof shapes)[]
  const wrong = names.find(name => typeof payload[name] !== 'string' || !shapes[name].test(payload[name]))
  if (wrong) return problem(`The credential has no usable ${wrong}.`)
  if (reference !== undefined && (typeof reference !== 'string' || !/^[0-9A-Za-z]{1,35}$/.test(reference)))
    return problem('The paymentAccountReference of the credential is no text of letters and digits.')
  const texts = Object.fromEntries(names.map(name => [name, String(payload[name])]))
  return {
    ...(texts as Record<keyof typeof shapes, string>),
    encryptedPayload: jwe,
    ...referenceOf(reference),
  }
}

const referenceOf = (reference: string | undefined) =>
  reference === undefined ? {} : { paymentAccountReference: reference }
