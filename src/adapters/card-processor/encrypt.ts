import {
  constants,
  createCipheriv,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import { CompactEncrypt, type CompactJWEHeaderParameters, importJWK, type JWK } from 'jose'
import type {
  DisclosureRecipient,
  EncryptedDisclosure,
  MachinePaymentBinding,
  ProcessorFailure,
} from '../../ports/card-processor.ts'
import { memoizeByWeight } from '../../values/bounded-cache.ts'
import type { EncryptionKey } from '../../values/encryption-key.ts'

export interface CardData {
  readonly number: string
  readonly expMonth: number
  readonly expYear: number
  readonly cvc: string
}

export interface NetworkTokenData {
  readonly number: string
  readonly expMonth: number
  readonly expYear: number
  readonly cryptogram: string
}

const UNUSABLE_KEY: ProcessorFailure = {
  failure: 'refused',
  code: 'unusable_key',
  message: 'Nothing can be encrypted to this key. Give another one.',
}

/**
 * Card data leaves an adapter only through the functions of this file: as a compact JWE whose protected
 * header names the key, intent and merchant it was made for.
 */
export const encryptCardData = (
  data: CardData | NetworkTokenData,
  { key, intentId, merchantHost }: DisclosureRecipient,
): Promise<EncryptedDisclosure | ProcessorFailure> =>
  encryptTo(key, data, { kid: key.thumbprint, typ: 'JOSE', cty: 'json', intentId, merchantHost })

/** The form of the protocol's method `card`: the payment that the token is bound to is part of the encrypted text. */
export const encryptForMachinePayment = (
  { number, expMonth, expYear, cryptogram }: NetworkTokenData,
  { key }: DisclosureRecipient,
  { kid, binding }: MachinePaymentBinding,
  expiresAt: Date,
): Promise<EncryptedDisclosure | ProcessorFailure> => {
  const token = {
    paymentToken: number,
    tokenExpirationMonth: String(expMonth).padStart(2, '0'),
    tokenExpirationYear: String(expYear),
    eci: '07',
  }
  const dynamicData = {
    dynamicDataValue: cryptogram,
    dynamicDataType: 'CARD_APPLICATION_CRYPTOGRAM_LONG_FORM',
    dynamicDataExpiration: Math.floor(expiresAt.getTime() / 1_000),
  }
  return encryptTo(key, { token, dynamicData, binding }, { kid })
}

async function encryptTo(
  key: EncryptionKey,
  data: object,
  header: Omit<CompactJWEHeaderParameters, 'alg' | 'enc'>,
): Promise<EncryptedDisclosure | ProcessorFailure> {
  const plain = Buffer.from(JSON.stringify(data))
  const protectedHeader = { alg: key.alg, enc: 'A256GCM', ...header }
  if (key.alg === 'RSA-OAEP-256') return encryptToRsa(key, plain, protectedHeader)
  const publicKey = await importJWK(publicMembers(key), key.alg).catch(() => undefined)
  if (!publicKey) return UNUSABLE_KEY
  const jwe = await new CompactEncrypt(plain)
    .setProtectedHeader(protectedHeader)
    .encrypt(publicKey)
    .catch(() => undefined)
  return jwe === undefined ? UNUSABLE_KEY : { jwe }
}

const MOST_KEYS = 1_000
const rsaKeys = memoizeByWeight(MOST_KEYS, (_: KeyObject | undefined) => 1)

/** By RFC 7516, 5.1. Each machine payment waits for this, and Web Crypto would need four tasks of the thread pool. */
function encryptToRsa(
  key: EncryptionKey,
  plain: Buffer,
  header: object,
): EncryptedDisclosure | ProcessorFailure {
  const publicKey = rsaKeys(`${key.jwk.n} ${key.jwk.e}`, () => rsaKeyOf(key))
  if (!publicKey) return UNUSABLE_KEY
  const contentKey = randomBytes(32)
  const nonce = randomBytes(12)
  const written = Buffer.from(JSON.stringify(header)).toString('base64url')
  const cipher = createCipheriv('aes-256-gcm', createSecretKey(contentKey), nonce).setAAD(
    Buffer.from(written),
  )
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  const wrapped = publicEncrypt({ key: publicKey, oaepHash: 'sha256', padding }, contentKey)
  const parts = [wrapped, nonce, text, cipher.getAuthTag()].map(part => part.toString('base64url'))
  return { jwe: [written, ...parts].join('.') }
}

function rsaKeyOf(key: EncryptionKey): KeyObject | undefined {
  try {
    return createPublicKey({ key: publicMembers(key), format: 'jwk' })
  } catch {
    return undefined
  }
}

const PUBLIC_MEMBERS = new Set(['kty', 'n', 'e', 'crv', 'x', 'y'])

/** Members such as `key_ops` could forbid the requested use; private members must not be used at all. */
function publicMembers({ jwk }: EncryptionKey): JWK {
  const members = Object.entries(jwk).filter(([name]) => PUBLIC_MEMBERS.has(name))
  return { kty: '', ...Object.fromEntries(members) }
}
