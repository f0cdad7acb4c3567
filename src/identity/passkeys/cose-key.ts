import { createPublicKey } from 'node:crypto'
import type { Algorithm, PublicJwk } from './passkey.ts'

/** The numbers of the algorithms in COSE (RFC 9053), in the order of our preference. */
export const COSE_ALGORITHMS: Readonly<Record<Algorithm, number>> = { Ed25519: -8, ES256: -7, RS256: -257 }

const KTY = 1
const ALG = 3
const CRV = -1

export interface EnrolledKey {
  readonly algorithm: Algorithm
  readonly jwk: PublicJwk
}

type Members = ReadonlyMap<number, unknown>

const text = (value: unknown): string => Buffer.from(value as Uint8Array).toString('base64url')
const isLong = (value: unknown, least: number, most = least): boolean =>
  value instanceof Uint8Array && value.length >= least && value.length <= most

/** The key as a JWK, for each algorithm; undefined where it is none that we take. An exponent is short, as a long one would make us work. */
const readers: Readonly<Record<Algorithm, (key: Members) => PublicJwk | undefined>> = {
  Ed25519: key =>
    key.get(KTY) === 1 && key.get(CRV) === 6 && isLong(key.get(-2), 32)
      ? { kty: 'OKP', crv: 'Ed25519', x: text(key.get(-2)) }
      : undefined,
  ES256: key =>
    key.get(KTY) === 2 && key.get(CRV) === 1 && isLong(key.get(-2), 32) && isLong(key.get(-3), 32)
      ? { kty: 'EC', crv: 'P-256', x: text(key.get(-2)), y: text(key.get(-3)) }
      : undefined,
  RS256: key =>
    key.get(KTY) === 3 && isLong(key.get(-1), 256, 512) && isLong(key.get(-2), 1, 4)
      ? { kty: 'RSA', n: text(key.get(-1)), e: text(key.get(-2)) }
      : undefined,
}

/** Reads the public key of a new passkey; undefined for one that we do not take, or that is no key at all. */
export function enrolledKeyOf(key: Members): EnrolledKey | undefined {
  const [algorithm] = Object.entries(COSE_ALGORITHMS).find(([, number]) => number === key.get(ALG)) ?? []
  if (!algorithm) return undefined
  const jwk = readers[algorithm as Algorithm](key)
  return jwk && isKey(jwk) ? { algorithm: algorithm as Algorithm, jwk } : undefined
}

/** Whether the numbers make a key: a point may lie beside its curve. */
function isKey(key: PublicJwk): boolean {
  try {
    createPublicKey({ key: { ...key }, format: 'jwk' })
    return true
  } catch {
    return false
  }
}
