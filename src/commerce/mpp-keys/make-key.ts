import { generateKeyPair, hash, type JsonWebKey, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { Vault } from '../../ports/vault.ts'

const makePair = promisify(generateKeyPair)

/** New keys as they are stored: what is secret is sealed for the name of the key. */
export interface NewKey {
  readonly kid: string
  readonly modulus: string
  readonly secret: string
  readonly privateKey: string
}

/** Makes keys. The primes are looked for outside of the event loop, and no transaction waits for them. */
export async function newMppKey(vault: Vault): Promise<NewKey> {
  const { publicKey, privateKey } = await makePair('rsa', { modulusLength: 2_048 })
  const { n = '' } = publicKey.export({ format: 'jwk' })
  const kid = thumbprintOf(n)
  const jwk = JSON.stringify(privateKey.export({ format: 'jwk' }))
  return {
    kid,
    modulus: n,
    secret: vault.seal(randomBytes(32).toString('base64url'), secretContext(kid)),
    privateKey: vault.seal(jwk, privateContext(kid)),
  }
}

/** The thumbprint of RFC 7638: the members that make the key, in the order of their names. */
const thumbprintOf = (n: string): string =>
  hash('sha256', JSON.stringify({ e: 'AQAB', kty: 'RSA', n }), 'base64url')

const secretContext = (kid: string): string => `mpp-secret:${kid}`
const privateContext = (kid: string): string => `mpp-key:${kid}`

export const openSecret = (vault: Vault, kid: string, sealed: string): string =>
  vault.open(sealed, secretContext(kid))

export const openPrivateKey = (vault: Vault, kid: string, sealed: string): JsonWebKey =>
  JSON.parse(vault.open(sealed, privateContext(kid))) as JsonWebKey
