import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import type { EncryptionKey } from '../../../src/values/encryption-key.ts'

export interface KeyPair {
  readonly key: EncryptionKey
  readonly privateKey: CryptoKey
}

const kinds = {
  'RSA-2048': ['RSA-OAEP-256', { modulusLength: 2_048 }],
  'P-256': ['ECDH-ES+A256KW', { crv: 'P-256' }],
  'P-384': ['ECDH-ES+A256KW', { crv: 'P-384' }],
  X25519: ['ECDH-ES+A256KW', { crv: 'X25519' }],
} as const

export type KindOfKey = keyof typeof kinds

export const kindsOfKeys = Object.keys(kinds) as KindOfKey[]

export async function aKeyPair(kind: KindOfKey = 'P-256'): Promise<KeyPair> {
  const [alg, options] = kinds[kind]
  const { publicKey, privateKey } = await generateKeyPair(alg, options)
  const jwk = (await exportJWK(publicKey)) as Record<string, string>
  return { key: { jwk, alg, thumbprint: await calculateJwkThumbprint(jwk) }, privateKey }
}
