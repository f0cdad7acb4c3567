import { CompactEncrypt, importJWK, type JWK } from 'jose'
import type { Disclosure, ProcessorFailure, Recipient } from '../../ports/card-processor.ts'
import type { EncryptionKey } from '../../values/encryption-key.ts'

export interface CardData {
  readonly number: string
  readonly expMonth: number
  readonly expYear: number
  readonly cvc: string
}

export interface TokenData {
  readonly number: string
  readonly expMonth: number
  readonly expYear: number
  readonly cryptogram: string
}

const UNUSABLE_KEY: ProcessorFailure = {
  failure: 'refused',
  code: 'unusable_key',
  message: 'Nothing can be encrypted to this key: give another one.',
}

/**
 * Card data leaves an adapter only through this function: as a compact JWE whose protected header says for which key,
 * intent and merchant it was made.
 */
export async function encrypt(
  data: CardData | TokenData,
  { key, intentId, merchantHost }: Recipient,
): Promise<Disclosure | ProcessorFailure> {
  const publicKey = await importJWK(publicMembers(key), key.alg).catch(() => undefined)
  if (!publicKey) return UNUSABLE_KEY
  const jwe = await new CompactEncrypt(Buffer.from(JSON.stringify(data)))
    .setProtectedHeader({
      alg: key.alg,
      enc: 'A256GCM',
      kid: key.thumbprint,
      typ: 'JOSE',
      cty: 'json',
      intentId,
      merchantHost,
    })
    .encrypt(publicKey)
    .catch(() => undefined)
  return jwe === undefined ? UNUSABLE_KEY : { jwe }
}

const PUBLIC_MEMBERS = new Set(['kty', 'n', 'e', 'crv', 'x', 'y'])

/** Members such as `key_ops` could forbid the use that the caller has asked for; private ones must not be used at all. */
function publicMembers({ jwk }: EncryptionKey): JWK {
  const members = Object.entries(jwk).filter(([name]) => PUBLIC_MEMBERS.has(name))
  return { kty: '', ...Object.fromEntries(members) }
}
