import { createHash, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto'
import type { SignedClaims, SigningPublicKey, StandardClaims } from './public-keys.ts'

export type { PublicKeySet, SignedClaims, SigningPublicKey, StandardClaims } from './public-keys.ts'

/**
 * Signs statements of this installation, which anyone can verify offline with its public keys. The keys are
 * in memory, so signing needs no connection: it works in every process, and inside a transaction.
 */
export interface Signer {
  /**
   * Returns a compact JWS (RFC 7515). `type` becomes its `typ`, so that no statement passes for one of
   * another kind.
   */
  sign<C extends StandardClaims>(type: string, claims: C): string
  /** Signs a text of lines, such as a checkpoint, as a note in this name (C2SP signed-note). */
  signNote(name: string, text: string): Promise<string>
  /**
   * The claims of a statement of this type signed with any key of this installation; otherwise undefined.
   * Queries the database for a key that this process does not know: call it outside of transactions.
   */
  verify(type: string, jws: string): Promise<SignedClaims | undefined>
  publicKeys(): readonly SigningPublicKey[]
}

export const publicKeyFromX = (x: string): SigningPublicKey => ({
  kty: 'OKP',
  crv: 'Ed25519',
  alg: 'EdDSA',
  use: 'sig',
  kid: thumbprintOf(x),
  x,
})

/** The thumbprint of RFC 7638: the required members in alphabetical order. */
const thumbprintOf = (x: string): string =>
  createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url')

export function newSigningKeyPair(): { x: string; privateKey: string } {
  const pair = generateKeyPairSync('ed25519')
  const { x = '' } = pair.publicKey.export({ format: 'jwk' })
  return { x, privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

export function signJws(key: KeyObject, kid: string, type: string, claims: object): string {
  const text = `${encoded({ alg: 'EdDSA', kid, typ: type })}.${encoded(claims)}`
  return `${text}.${signBytes(null, Buffer.from(text), key).toString('base64url')}`
}
