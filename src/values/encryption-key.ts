import { hash } from 'node:crypto'
import { z } from 'zod'
import { type Jwk, type JwkProblem, jweAlgorithmOf, jwkProblem, jwkThumbprintMembers } from './public-jwk.ts'

export interface EncryptionKey {
  readonly jwk: Readonly<Record<string, string>>
  readonly alg: 'RSA-OAEP-256' | 'ECDH-ES+A256KW'
  readonly thumbprint: string
}

/** Members that only a private or symmetric key has. */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

const WAS_SENT =
  'this belongs to a private key. Send the public one only, and make a new pair: this one is no secret any more'

/** Refuses private keys, and values that are not text, before any member is read. */
function problemsOfForm(input: unknown): JwkProblem[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return [{ member: '', problem: 'must be a JSON Web Key: an object' }]
  const present = PRIVATE.filter(member => Object.hasOwn(input, member))
  if (present.length > 0) return present.map(member => ({ member, problem: WAS_SENT }))
  return Object.entries(input)
    .filter(([member, value]) => member !== 'key_ops' && member !== 'ext' && typeof value !== 'string')
    .map(([member]) => ({ member, problem: 'must be a string' }))
}

/** The issue carries no input: a refusal never repeats a part of a key. */
export const jwkIssue = ({ member, problem }: JwkProblem) => ({
  code: 'custom' as const,
  message: problem,
  path: member === '' ? [] : [member],
  input: undefined,
})

/** The base64url characters of 8,192 bits, the longest modulus. */
const LONGEST = 1_366

const name = z.string().max(200).optional()
const number = z.string().max(LONGEST).optional()

const PublicJwk = z
  .strictObject({
    kty: z
      .string()
      .max(20)
      .meta({ description: '`RSA`, `EC` or `OKP`.', examples: ['EC'] }),
    crv: z
      .string()
      .max(20)
      .optional()
      .meta({ description: '`P-256` or `P-384` for `EC`, `X25519` for `OKP`.', examples: ['P-256'] }),
    n: number.meta({ description: 'The modulus of `RSA`: 2048 to 8192 bits.' }),
    e: number.meta({ description: 'The exponent of `RSA`.', examples: ['AQAB'] }),
    x: number,
    y: number,
    use: name.meta({ description: '`enc`. Optional.' }),
    alg: name.meta({ description: '`RSA-OAEP-256` or `ECDH-ES+A256KW`, matching the kty. Optional.' }),
    key_ops: z.array(z.string().max(20)).max(8).optional(),
    ext: z.boolean().optional(),
    kid: name.meta({ description: 'Ignored: a key is identified by its thumbprint.' }),
  })
  .meta({ id: 'PublicKeyJwk' })

/** Refuses private keys, and inputs that are no key, before the schema reads them. */
export const publicJwkOnly = <S extends z.ZodObject>(schema: S) =>
  z.preprocess<unknown, S, z.input<S>>((input, context) => {
    const problems = problemsOfForm(input)
    if (problems.length === 0) return input
    context.issues.push(...problems.map(jwkIssue))
    return z.NEVER
  }, schema)

const formed = publicJwkOnly(PublicJwk)

export function parseEncryptionKey(jwk: Jwk): EncryptionKey | JwkProblem {
  const problem = jwkProblem(jwk)
  if (problem) return problem
  const members = Object.fromEntries(jwkThumbprintMembers(jwk).map(member => [member, String(jwk[member])]))
  const thumbprint = hash('sha256', JSON.stringify(members), 'base64url')
  return { jwk: members, alg: jweAlgorithmOf(jwk), thumbprint }
}

/** A 400 names the member and never shows a value. */
export const encryptionKeySchema = z
  .codec(formed, z.custom<EncryptionKey>(), {
    decode(jwk, context) {
      const key = parseEncryptionKey(jwk)
      if (!('problem' in key)) return key
      context.issues.push(jwkIssue(key))
      return z.NEVER
    },
    encode: ({ jwk: { kty = '', ...others } }) => ({ kty, ...others }),
  })
  .meta({
    description:
      'The recipient’s public key (RFC 7517): RSA from 2048 bits (RSA-OAEP-256), EC P-256 or P-384, or OKP X25519 (ECDH-ES+A256KW).',
    examples: [
      {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    ],
  })
