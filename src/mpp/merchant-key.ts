import { type Jwk, jwkProblem } from '../values/public-jwk.ts'
import { isJsonObject } from './base64url.ts'

const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

export interface MerchantKey {
  readonly kty: 'RSA'
  readonly n: string
  readonly e: string
  readonly use: 'enc'
  readonly alg: 'RSA-OAEP-256'
  readonly kid: string
}

/** Undefined for a valid key: RSA of 2048 bits or more, with a key id and for encryption. */
export function merchantKeyProblem(jwk: unknown): string | undefined {
  if (!isJsonObject(jwk)) return 'The key of the merchant is not a JSON Web Key.'
  const secret = PRIVATE.find(member => Object.hasOwn(jwk, member))
  if (secret) return `The key of the merchant has the private member ${secret}.`
  if (jwk.kty !== 'RSA') return 'The key of the merchant is not an RSA key.'
  if (jwk.use !== 'enc') return 'The key of the merchant does not have the use enc.'
  if (jwk.alg !== 'RSA-OAEP-256') return 'The key of the merchant does not have the alg RSA-OAEP-256.'
  if (typeof jwk.kid !== 'string' || jwk.kid === '' || jwk.kid.length > 200)
    return 'The key of the merchant has no kid of at most 200 characters.'
  return numbersProblem(jwk)
}

function numbersProblem({
  n,
  e,
  key_ops: operations,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof n !== 'string' || typeof e !== 'string' || n.length > 1_366 || e.length > 16)
    return 'The key of the merchant has no modulus and exponent of 2048 to 8192 bits.'
  const isList = Array.isArray(operations) && operations.every(operation => typeof operation === 'string')
  if (operations !== undefined && !isList)
    return 'The key_ops of the merchant’s key are not a list of strings.'
  const jwk: Jwk = {
    kty: 'RSA',
    n,
    e,
    use: 'enc',
    alg: 'RSA-OAEP-256',
    ...(isList ? { key_ops: operations } : {}),
  }
  const found = jwkProblem(jwk)
  return found && `The key of the merchant cannot be used: its ${found.member} ${found.problem}.`
}

export function merchantKeyOf(jwk: Readonly<Record<string, unknown>>): MerchantKey {
  const { n, e, kid } = jwk
  return { kty: 'RSA', n: String(n), e: String(e), use: 'enc', alg: 'RSA-OAEP-256', kid: String(kid) }
}
