import { hash } from 'node:crypto'
import { Problem } from '../../kernel/contract/problem.ts'
import { type Database, sqlOn } from '../../kernel/database/prepared-sql.ts'
import { asProblem } from '../../kernel/database/retry.ts'
import { clock } from '../../values/clock.ts'
import { proofAlgorithms } from '../../values/proof-key.ts'
import { checkProof, PROOF_LASTS_MS } from './dpop-proof.ts'
import type { Presented } from './presented.ts'

/** Throws a Problem unless the request proves that its sender holds the key with this thumbprint, too. */
export type Prove = (presented: Presented, secret: string, boundTo: string) => Promise<void>

const refused = (why: string): Problem =>
  new Problem(
    'invalid_dpop_proof',
    `DPoP: ${why}. This key is bound to a device: send with each request a proof of its own (RFC 9449).`,
    { 'WWW-Authenticate': `DPoP error="invalid_dpop_proof", algs="${proofAlgorithms.join(' ')}"` },
  )

const USE = `
insert into used_proofs (digest, expires_at) values ($1, $2) on conflict (digest) do nothing returning 1 as used`

/** Checks proofs, and lets each count once in all processes on the database. */
export function openProofs({ pool }: Database): Prove {
  const sql = sqlOn(pool)
  /** A request is let in twice where its body took long. */
  const proven = new WeakSet<Presented>()

  return async (presented, secret, boundTo) => {
    const { proof, method, addresses } = presented.sent ?? {}
    if (proof === undefined || method === undefined || addresses === undefined)
      throw refused('the proof is missing')
    if (proven.has(presented)) return
    const checked = checkProof(proof, { boundTo, secret, method, addresses, nowMs: clock.milliseconds() })
    if (typeof checked === 'string') throw refused(checked)
    const digest = hash('sha256', `${boundTo} ${checked.jti}`, 'base64url')
    const until = new Date(checked.signedAtMs + 2 * PROOF_LASTS_MS)
    const used = await sql(USE, [digest, until]).catch((error: unknown) => {
      throw asProblem(error)
    })
    if (used.length === 0) throw refused('the proof was used before')
    proven.add(presented)
  }
}
