/** The subject of a signed statement. Each statement contains it, as all owners share the signing keys. */
export interface StandardClaims {
  readonly ownerId: string
  readonly mode: 'test' | 'live'
}

export type SignedClaims = StandardClaims & Readonly<Record<string, unknown>>

export interface SigningPublicKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly alg: 'EdDSA'
  readonly use: 'sig'
  readonly kid: string
  readonly x: string
}

export interface PublicKeySet {
  readonly keys: readonly SigningPublicKey[]
}
