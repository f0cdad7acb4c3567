import { Problem } from '../../kernel/contract/problem.ts'
import { type Database, sqlOn } from '../../kernel/database/prepared-sql.ts'
import { checkProof, useProof } from '../../kernel/database/proof.ts'
import { databaseErrorAsProblem } from '../../kernel/database/retry.ts'
import { clock } from '../../values/clock.ts'
import { proofAlgorithms } from '../../values/proof-key.ts'
import type { RequestCredentials } from './request-credentials.ts'

/** Throws a Problem unless the request proves that its sender also holds the key with this thumbprint. */
export type ProvePossession = (
  presented: RequestCredentials,
  secret: string,
  boundTo: string,
) => Promise<void>

const refused = (why: string): Problem =>
  new Problem(
    'invalid_dpop_proof',
    `DPoP: ${why}. This key is bound to a device: send a new proof with each request (RFC 9449).`,
    { 'WWW-Authenticate': `DPoP error="invalid_dpop_proof", algs="${proofAlgorithms.join(' ')}"` },
  )

export function createProofVerifier({ pool }: Database): ProvePossession {
  const sql = sqlOn(pool)
  /** A request with a slow body is authenticated twice, but its proof is checked once. */
  const proven = new WeakSet<RequestCredentials>()

  return async (presented, secret, boundTo) => {
    const { proof, method, addresses } = presented.sent ?? {}
    if (proof === undefined || method === undefined || addresses === undefined)
      throw refused('the proof is missing')
    if (proven.has(presented)) return
    const bound = { to: boundTo, secret }
    const checked = checkProof(proof, { bound, method, addresses, nowMs: clock.milliseconds() })
    if (typeof checked === 'string') throw refused(checked)
    const isNew = await useProof(sql, checked).catch((error: unknown) => {
      throw databaseErrorAsProblem(error)
    })
    if (!isNew) throw refused('the proof was used before')
    proven.add(presented)
  }
}
