import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { jwkIssue, publicJwkOnly } from './encryption-key.ts'
import type { JwkProblem } from './public-jwk.ts'

export interface ProofKey {
  readonly jwk: Readonly<Record<string, string>>
  readonly thumbprint: string
  readonly publicKey: KeyObject
  readonly algorithms: readonly ProofAlgorithm[]
}

/** RFC 7518, RFC 8037, RFC 9864; `EdDSA` and `Ed25519` are two names of one. */
export const proofAlgorithms = ['ES256', 'EdDSA', 'Ed25519'] as const
type ProofAlgorithm = (typeof proofAlgorithms)[number]

interface Kind {
  readonly kty: string
  /** The required members, in the order of RFC 7638. */
  readonly members: readonly string[]
  readonly algorithms: readonly ProofAlgorithm[]
}

const KINDS: Readonly<Record<string, Kind>> = {
  'P-256': { kty: 'EC', members: ['crv', 'kty', 'x', 'y'], algorithms: ['ES256'] },
  Ed25519: { kty: 'OKP', members: ['crv', 'kty', 'x'], algorithms: ['EdDSA', 'Ed25519'] },
}

const BYTES = 32
const isCoordinate = (text: unknown): boolean =>
  typeof text === 'string' &&
  Buffer.from(text, 'base64url').length === BYTES &&
  Buffer.from(text, 'base64url').toString('base64url') === text

export function parseProofKey(given: Readonly<Record<string, unknown>>): ProofKey | JwkProblem {
  const kind = KINDS[String(given.crv)]
  if (!kind || kind.kty !== given.kty)
    return {
      member: 'crv',
      problem: 'a key for proofs is EC with the curve P-256, or OKP with the curve Ed25519',
    }
  const wrong = kind.members.slice(2).find(member => !isCoordinate(given[member]))
  if (wrong) return { member: wrong, problem: `must be ${BYTES} bytes in base64url without padding` }
  const jwk = Object.fromEntries(kind.members.map(member => [member, String(given[member])]))
  try {
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
    const thumbprint = hash('sha256', JSON.stringify(jwk), 'base64url')
    return { jwk, thumbprint, publicKey, algorithms: kind.algorithms }
  } catch {
    return { member: 'x', problem: 'this is no point of the curve' }
  }
}

const member = z.string().max(200)
const ignored = member.optional().meta({ description: 'Ignored.' })

const ProofJwk = z
  .strictObject({
    kty: member.meta({ description: '`EC` or `OKP`.', examples: ['EC'] }),
    crv: member.meta({ description: '`P-256` for `EC`, `Ed25519` for `OKP`.', examples: ['P-256'] }),
    x: member,
    y: member.optional(),
    use: ignored,
    alg: ignored,
    kid: ignored,
    key_ops: z.array(z.string().max(20)).max(8).optional(),
    ext: z.boolean().optional(),
  })
  .meta({ id: 'ProofKeyJwk' })

/** A 400 names the member and never shows a value. */
export const proofKeySchema = z
  .codec(publicJwkOnly(ProofJwk), z.custom<ProofKey>(), {
    decode(jwk, context) {
      const key = parseProofKey(jwk)
      if (!('problem' in key)) return key
      context.issues.push(jwkIssue(key))
      return z.NEVER
    },
    encode: ({ jwk: { kty = '', crv = '', x = '', ...others } }) => ({ kty, crv, x, ...others }),
  })
  .meta({
    description:
      'The public key (RFC 7517) that verifies the device’s proof of each request (`DPoP`, RFC 9449): EC P-256 (ES256) or OKP Ed25519 (EdDSA).',
    examples: [
      {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    ],
  })
