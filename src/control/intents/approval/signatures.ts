import {
  type AssertionCode,
  burn,
  type Checked,
  type Envelope,
  judge,
  type LockedChallenges,
  lockChallenges,
  readAssertions,
  type Verified,
  writeAssertions,
} from '../../../identity/passkeys/index.ts'
import type { Tenant, TenantNow } from '../../../kernel/contract/actor.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import type { Problem } from '../../../kernel/contract/problem.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import type { Spender } from '../../policies/index.ts'
import type { IntentRow } from '../intent-rows.ts'
import type { Approve } from '../settle.ts'
import { type ApprovalRow, insertApprovals, type OpeningsRow } from './approval.ts'
import { type Proof, proofRows, signProof } from './proof.ts'
import { currentIbans, type IbanOf, subjectOf } from './statement.ts'

export type ApproveRequest = Parameters<Approve['decide']>[0]
type Verdict = Parameters<Approve['decide']>[2]

/** The signatures that came with a batch of approvals, checked before any row is locked. */
interface ReadSignatures {
  readonly checked: ReadonlyMap<Envelope, Checked>
  /** The proof that each genuine one will be if it counts. */
  readonly proofs: ReadonlyMap<Verified, Proof>
}

/** The signatures with their challenges locked, and the proofs of those that counted so far. */
export interface Signatures extends ReadSignatures {
  readonly locked: LockedChallenges
  readonly ibanOf: IbanOf
  readonly approvals: ApprovalRow[]
  readonly openings: OpeningsRow[]
}

const envelopeOf = ({ input }: ApproveRequest): Envelope | undefined => input.body.webauthnAssertion

/** Checks the signatures, and signs the proofs: what takes time is done while nobody waits for a lock. */
export async function readSignatures(
  requests: readonly ApproveRequest[],
  sql: Sql,
  ports: Ports,
): Promise<ReadSignatures> {
  const [first] = requests
  const envelopes = requests.flatMap(request => envelopeOf(request) ?? [])
  if (!first || envelopes.length === 0) return { checked: new Map(), proofs: new Map() }
  const checked = await readAssertions(sql, first.tenant, envelopes, ports)
  const genuine = [...checked.values()].flatMap(({ verified }) => verified ?? [])
  const proofs = await Promise.all(
    genuine.map(async one => [one, await signProof(one, first, ports)] as const),
  )
  return { checked, proofs: new Map(proofs) }
}

/** Locks challenges and passkeys, after the intents, and reads which accounts the intents pay by now. */
export async function lockSignatures(
  read: ReadSignatures,
  requests: readonly ApproveRequest[],
  intents: ReadonlyMap<string, IntentRow>,
  { sql, tenant }: { readonly sql: Sql; readonly tenant: Tenant },
): Promise<Signatures> {
  const signed = requests.filter(request => envelopeOf(request) !== undefined)
  const sent = signed.map(request => ({
    ...request,
    checked: read.checked.get(envelopeOf(request) as Envelope) as Checked,
  }))
  const [locked, ibanOf] = await Promise.all([
    lockChallenges(sql, tenant, sent),
    currentIbans(
      sql,
      tenant,
      signed.flatMap(({ input }) => intents.get(input.params.id) ?? []),
    ),
  ])
  return { ...read, locked, ibanOf, approvals: [], openings: [] }
}

/** A signature that counts. */
export interface Signature {
  readonly verified: Verified
  readonly proof: Proof
  /** The account that the person has approved. */
  readonly iban: string | null
}

type Judged = Signature | Problem | Exclude<AssertionCode, 'assertion_required'> | undefined

/**
 * Judges the signature of a request over the intent as it stands, and burns its challenge whatever comes of it. Undefined
 * where none was sent.
 */
export function judgeSignature(
  request: ApproveRequest,
  intent: IntentRow | undefined,
  spender: Spender | undefined,
  signatures: Signatures,
  verdict: Verdict,
): Judged {
  const { actor } = request
  const envelope = envelopeOf(request)
  if (!envelope) return undefined
  const { checked, proofs, locked, ibanOf } = signatures
  const found = checked.get(envelope) as Checked
  const stopped = locked.stopped.get(found)
  if (stopped) return stopped
  if (!intent || !spender) return (burn(found, locked, verdict) ?? 'statement_outdated') as Judged
  const iban = ibanOf(intent)
  const personId = locked.challenges.get(envelope.challengeId)?.personId ?? null
  const members = subjectOf(intent, { spender, iban, personId })
  const caller = actor.type === 'console' ? actor.id : null
  const code = judge(found, locked, { kind: 'intent', members, personId: caller }, verdict)
  if (code) return code as Judged
  const { verified } = found
  const proof = verified && proofs.get(verified)
  if (!proof) throw new Error(`${found.challengeId} counts and is not verified`)
  return { verified, proof, iban }
}

/** Keeps the proof of an approval, and what opens its commitments. */
export function keepProof(
  intentId: string,
  { proof }: Signature,
  { approvals, openings }: Signatures,
  tenantNow: TenantNow,
): void {
  const [approval, opened] = proofRows(intentId, proof, tenantNow)
  approvals.push(approval)
  openings.push(opened)
}

export const writeSignatures = (
  { locked, approvals, openings }: Signatures,
  sql: Sql,
  tenant: Tenant,
): Promise<unknown> =>
  Promise.all([writeAssertions(sql, tenant, locked), insertApprovals(sql, approvals, openings)])
