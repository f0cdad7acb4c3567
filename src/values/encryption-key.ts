/** A public key that card data may be encrypted to. */
export interface EncryptionKey {
  readonly jwk: Readonly<Record<string, string>>
  readonly alg: 'RSA-OAEP-256' | 'ECDH-ES+A256KW'
  /** The RFC 7638 thumbprint: SHA-256, base64url. */
  readonly thumbprint: string
}
