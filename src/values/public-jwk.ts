import {
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  publicEncrypt,
} from 'node:crypto'
import { memoizeByWeight } from './bounded-cache.ts'

/** A JSON Web Key as received: texts, but for `key_ops` and `ext`. */
export interface Jwk {
  readonly kty?: string | undefined
  readonly crv?: string | undefined
  readonly n?: string | undefined
  readonly e?: string | undefined
  readonly x?: string | undefined
  readonly y?: string | undefined
  readonly use?: string | undefined
  readonly alg?: string | undefined
  readonly key_ops?: readonly string[] | undefined
}

/** The member, '' for the whole key, and a message that never contains a value of it. */
export interface JwkProblem {
  readonly member: string
  readonly problem: string
}

/** Coordinates on an elliptic curve have all their bytes, leading zeros included. */
const CURVES: Readonly<Record<string, { readonly kty: string; readonly bytes: number }>> = {
  'P-256': { kty: 'EC', bytes: 32 },
  'P-384': { kty: 'EC', bytes: 48 },
  X25519: { kty: 'OKP', bytes: 32 },
}

const LEAST_BITS = 2_048
const MAX_BITS = 8_192
const LEAST_EXPONENT = 65_537n
const MAX_EXPONENT = 2n ** 32n - 1n

const KINDS = 'RSA with at least 2048 bits, EC with the curve P-256 or P-384, or OKP with the curve X25519'

/** The required members of RFC 7638, in its order. */
export const jwkThumbprintMembers = ({ kty }: Jwk): readonly (keyof Jwk)[] =>
  kty === 'RSA' ? ['e', 'kty', 'n'] : kty === 'EC' ? ['crv', 'kty', 'x', 'y'] : ['crv', 'kty', 'x']

function bytesOf(text: string | undefined): Buffer | undefined {
  const bytes = Buffer.from(text ?? '', 'base64url')
  return bytes.length > 0 && bytes.toString('base64url') === text ? bytes : undefined
}

const NOT_BASE64URL = 'must be in base64url without padding'

/** In as few bytes as it needs: otherwise one key would have two thumbprints. */
function numberIn(jwk: Jwk, member: 'n' | 'e'): bigint | JwkProblem {
  const bytes = bytesOf(jwk[member])
  if (!bytes) return { member, problem: NOT_BASE64URL }
  if (bytes[0] === 0) return { member, problem: 'must not begin with a zero byte' }
  return BigInt(`0x${bytes.toString('hex')}`)
}

function rsaProblem(jwk: Jwk): JwkProblem | undefined {
  const modulus = numberIn(jwk, 'n')
  if (typeof modulus !== 'bigint') return modulus
  const bits = modulus.toString(2).length
  if (bits < LEAST_BITS || bits > MAX_BITS)
    return { member: 'n', problem: `an RSA key has ${LEAST_BITS} to ${MAX_BITS} bits; this has ${bits}` }
  const exponent = numberIn(jwk, 'e')
  if (typeof exponent !== 'bigint') return exponent
  const isGood = exponent % 2n === 1n && exponent >= LEAST_EXPONENT && exponent <= MAX_EXPONENT
  return isGood
    ? undefined
    : { member: 'e', problem: 'the exponent is odd and at least 65537, which is AQAB' }
}

function curveProblem(jwk: Jwk): JwkProblem | undefined {
  const curve = CURVES[jwk.crv ?? '']
  if (curve?.kty !== jwk.kty) return { member: 'crv', problem: `a key is ${KINDS}` }
  const members = jwk.kty === 'EC' ? (['x', 'y'] as const) : (['x'] as const)
  for (const member of members) {
    const bytes = bytesOf(jwk[member])
    if (!bytes) return { member, problem: NOT_BASE64URL }
    if (bytes.length !== curve?.bytes)
      return { member, problem: `has ${curve?.bytes} bytes on this curve; this has ${bytes.length}` }
  }
  return undefined
}

/** Members of another key type are refused: the key would be ambiguous. */
function strangerProblem(jwk: Jwk): JwkProblem | undefined {
  const strangers = (['n', 'e', 'crv', 'x', 'y'] as const).filter(
    member => jwk[member] !== undefined && !jwkThumbprintMembers(jwk).includes(member),
  )
  return strangers[0] && { member: strangers[0], problem: 'a key of this kty has no such member' }
}

export const jweAlgorithmOf = ({ kty }: Jwk) => (kty === 'RSA' ? 'RSA-OAEP-256' : 'ECDH-ES+A256KW')

/** Web Crypto writes an empty `key_ops` for the public half of a key agreement. */
function useProblem(jwk: Jwk): JwkProblem | undefined {
  const { use, alg, key_ops: operations } = jwk
  if (use !== undefined && use !== 'enc')
    return { member: 'use', problem: 'must be enc, or left out: the key is to encrypt' }
  if (alg !== undefined && alg !== jweAlgorithmOf(jwk))
    return { member: 'alg', problem: `must be ${jweAlgorithmOf(jwk)} with this kty, or left out` }
  const needed = jwk.kty === 'RSA' ? ['encrypt', 'wrapKey'] : ['deriveKey', 'deriveBits']
  const allows = operations === undefined || operations.some(operation => needed.includes(operation))
  if (allows || (operations?.length === 0 && jwk.kty !== 'RSA')) return undefined
  return { member: 'key_ops', problem: `must contain ${needed.join(' or ')}, or be left out` }
}

/** Payers are shown the key of a merchant again and again, and each payment checks it twice. */
const judged = memoizeByWeight(1_000, (_: JwkProblem | null) => 1)

function numbersProblem(jwk: Jwk): JwkProblem | undefined {
  const { kty, crv, n, e, x, y } = jwk
  const judge = () => (kty === 'RSA' ? rsaProblem(jwk) : curveProblem(jwk)) ?? null
  return judged(JSON.stringify([kty, crv, n, e, x, y]), judge) ?? undefined
}

const encryptable = memoizeByWeight(1_000, (_: boolean) => 1)

/** A point off its curve, one of low order and an even modulus cannot encrypt. */
function canEncrypt(jwk: Jwk): boolean {
  const members = Object.fromEntries(jwkThumbprintMembers(jwk).map(member => [member, jwk[member]]))
  return encryptable(JSON.stringify(members), () => encrypts(jwk, members))
}

function encrypts(jwk: Jwk, members: Readonly<Record<string, unknown>>): boolean {
  try {
    encryptSomething(jwk, createPublicKey({ key: members, format: 'jwk' }))
    return true
  } catch {
    return false
  }
}

function encryptSomething({ kty, crv }: Jwk, key: KeyObject): void {
  if (kty === 'RSA') publicEncrypt({ key, oaepHash: 'sha256' }, Buffer.alloc(32))
  else if (kty === 'EC')
    diffieHellman({ ...generateKeyPairSync('ec', { namedCurve: String(crv) }), publicKey: key })
  else diffieHellman({ ...generateKeyPairSync('x25519'), publicKey: key })
}

export function jwkProblem(jwk: Jwk): JwkProblem | undefined {
  const { kty } = jwk
  if (kty === 'oct')
    return { member: 'kty', problem: 'a symmetric key reads what it encrypts; send a public key' }
  if (kty !== 'RSA' && kty !== 'EC' && kty !== 'OKP') return { member: 'kty', problem: `a key is ${KINDS}` }
  const problem = numbersProblem(jwk) ?? strangerProblem(jwk) ?? useProblem(jwk)
  if (problem) return problem
  if (canEncrypt(jwk)) return undefined
  return kty === 'RSA'
    ? { member: 'n', problem: 'nothing can be encrypted to this modulus' }
    : { member: 'x', problem: 'this is no point of the curve that a key can have' }
}
