import { createPublicKey, verify } from 'node:crypto'
import type { PublicKeySet, SignedClaims } from '../ports/public-keys.ts'

/** The statement is not signed by the installation with these keys. Trust nothing in it. */
export class SignatureRejected extends Error {}

/**
 * The key is not in the key set. Fetch `/.well-known/jwks.json` again, and reject the statement if that does
 * not help.
 */
export class UnknownSigningKey extends SignatureRejected {}

const MAX_CHARACTERS = 1_048_576
const SIGNATURE_BYTES = 64

/**
 * Proves that an installation has signed a statement, such as the evidence of a payment, and returns its
 * claims. `keys` is a copy of its `/.well-known/jwks.json`; no network is used. `type` is the expected kind
 * of statement: `verifySigned(evidence, jwks, 'payment-evidence')`. Its `ownerId` and `mode` say whom it is
 * about.
 */
export const verifySigned = (jws: string, keys: PublicKeySet, type: string): SignedClaims =>
  verifySignedAsOneOf(jws, keys, [type]).claims

/** Proves a statement of one of these types. The first names what is expected where it is of none. */
export function verifySignedAsOneOf<T extends string>(
  jws: string,
  keys: PublicKeySet,
  types: readonly [T, ...T[]],
): { readonly type: T; readonly claims: SignedClaims } {
  const [header = '', claims = '', signature = '', ...rest] =
    jws.length > MAX_CHARACTERS ? [] : jws.split('.')
  if (!signature || rest.length > 0) throw new SignatureRejected('This is not a compact JWS.')
  const { type, kid } = headerIn(header, types)
  const key = keys.keys.find(one => one.kid === kid && one.kty === 'OKP' && one.crv === 'Ed25519')
  if (!key) throw new UnknownSigningKey(`The key set has no key ${kid}: fetch /.well-known/jwks.json again.`)
  const { kty, crv, x } = key
  const publicKey = createPublicKey({ key: { kty, crv, x }, format: 'jwk' })
  const bytes = Buffer.from(signature, 'base64url')
  // A signature has one spelling. Another text that decodes to the same bytes was not signed.
  const isSpelt = bytes.length === SIGNATURE_BYTES && bytes.toString('base64url') === signature
  if (!isSpelt || !verify(null, Buffer.from(`${header}.${claims}`), publicKey, bytes))
    throw new SignatureRejected('The signature does not match this text.')
  return { type, claims: objectIn(claims) as unknown as SignedClaims }
}

function headerIn<T extends string>(header: string, types: readonly [T, ...T[]]): { type: T; kid: string } {
  const { alg, typ, crit, kid } = objectIn(header)
  if (alg !== 'EdDSA' || crit !== undefined) throw new SignatureRejected('The algorithm must be EdDSA.')
  const type = types.find(one => one === typ)
  if (type === undefined) throw new SignatureRejected(`This is not a statement of the type ${types[0]}.`)
  if (typeof kid !== 'string') throw new SignatureRejected('The header names no key.')
  return { type, kid: kid.slice(0, 100) }
}

function objectIn(part: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>
  } catch {}
  throw new SignatureRejected('A part is not a JSON object in base64url.')
}
