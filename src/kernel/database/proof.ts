import { hash, verify } from 'node:crypto'
import { z } from 'zod'
import { parseProofKey } from '../../values/proof-key.ts'
import type { Sql } from '../contract/sql.ts'

const LONGEST = 4_096

/** The largest allowed difference between a device's clock and the service's. */
const PROOF_LASTS_MS = 60_000

const Header = z.object({
  typ: z.literal('dpop+jwt'),
  alg: z.string(),
  jwk: z.record(z.string(), z.unknown()),
  // A proof with unknown critical extensions is invalid (RFC 7515, 4.1.11).
  crit: z.undefined().optional(),
})

const Claims = z.object({
  jti: z.string().min(1).max(256),
  htm: z.string(),
  htu: z.string(),
  iat: z.number(),
  ath: z.string().optional(),
})

interface Expected {
  /** The key and the credential of the request. The token endpoint learns the key, and has no credential yet. */
  readonly bound?: { readonly to: string; readonly secret: string }
  readonly method: string
  /** The URLs under which the request may have been sent, without their query. */
  readonly addresses: readonly string[]
  readonly nowMs: number
}

export interface Proof {
  readonly thumbprint: string
  readonly jti: string
  readonly signedAtMs: number
}

const jsonOf = (part: string): unknown => {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString())
  } catch {
    return undefined
  }
}

const digestOf = (text: string): string => hash('sha256', text, 'base64url')

/** Normalizes a URL, so that equal ones compare equal. */
function withoutQuery(address: string): string | undefined {
  const url = URL.parse(address)
  return url ? url.origin + url.pathname : undefined
}

function readProof(proof: string) {
  const [header = '', claims = '', signature = '', ...more] = proof.split('.')
  const [head, said] = [Header.safeParse(jsonOf(header)), Claims.safeParse(jsonOf(claims))]
  if (proof.length > LONGEST || more.length > 0 || !head.success || !said.success)
    return 'it is no proof of RFC 9449'
  if ('d' in head.data.jwk) return 'its jwk has a private key'
  const key = parseProofKey(head.data.jwk)
  if ('problem' in key) return `its jwk has the wrong ${key.member}`
  if (!(key.algorithms as readonly string[]).includes(head.data.alg)) return 'its alg does not fit its key'
  const dsaEncoding = 'ieee-p1363' as const
  const algorithm = head.data.alg === 'ES256' ? 'sha256' : null
  const signed = Buffer.from(`${header}.${claims}`)
  const isGenuine = verify(
    algorithm,
    signed,
    { key: key.publicKey, dsaEncoding },
    Buffer.from(signature, 'base64url'),
  )
  return isGenuine ? { thumbprint: key.thumbprint, ...said.data } : 'its signature is wrong'
}

/** Checks the proof of possession of one request (RFC 9449, 4.3). Returns the fault as text. */
export function checkProof(proof: string, expected: Expected): Proof | string {
  const read = readProof(proof)
  if (typeof read === 'string') return read
  const { thumbprint, jti, htm, htu, iat, ath } = read
  const { bound, method, addresses, nowMs } = expected
  if (bound && thumbprint !== bound.to) return 'another key has signed it'
  if (htm !== method) return 'its htm is another method'
  const asked = addresses.map(withoutQuery)
  if (!asked.includes(withoutQuery(htu) ?? '')) return 'its htu is another address'
  if (!(Math.abs(nowMs - iat * 1_000) <= PROOF_LASTS_MS))
    return 'its iat is more than a minute away from the time here'
  if (bound && ath !== digestOf(bound.secret)) return 'its ath belongs to another key'
  return { thumbprint, jti, signedAtMs: iat * 1_000 }
}

const USE = `
insert into used_proofs (digest, expires_at) values ($1, $2) on conflict (digest) do nothing returning 1 as used`

/** Counts each proof once among all processes on the database; false if it was used before. */
export async function useProof(sql: Sql, { thumbprint, jti, signedAtMs }: Proof): Promise<boolean> {
  const until = new Date(signedAtMs + 2 * PROOF_LASTS_MS)
  return (await sql(USE, [digestOf(`${thumbprint} ${jti}`), until])).length > 0
}
