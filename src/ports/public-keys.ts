/** The subject of a signed statement. Each statement contains it, as all owners share the signing keys. */
export interface Claims {
  readonly ownerId: string
  readonly mode: 'test' | 'live'
}

export type SignedClaims = Claims & Readonly<Record<string, unknown>>

export interface PublicKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly alg: 'EdDSA'
  readonly use: 'sig'
  readonly kid: string
  readonly x: string
}

export interface PublicKeySet {
  readonly keys: readonly PublicKey[]
}
