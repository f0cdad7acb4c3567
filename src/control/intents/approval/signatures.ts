import {
  type AssertionRefusalCode,
  type CheckedAssertion,
  consumeChallenge,
  decideAssertion,
  type LockedPasskeyChallenges,
  lockPasskeyChallenges,
  readAssertions,
  type VerifiedAssertion,
  type WebauthnAssertion,
  writeAssertionUse,
} from '../../../identity/passkeys/index.ts'
import type { Tenant, TenantNow } from '../../../kernel/contract/actor.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import type { Problem } from '../../../kernel/contract/problem.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { newId } from '../../../values/ids.ts'
import type { SpendingAgent } from '../../policies/index.ts'
import type { IntentRow } from '../intent.ts'
import type { ApproveIntentHandler } from '../intent-batch.ts'
import {
  type ApprovalRow,
  approvalRetainedUntil,
  type CommitmentOpeningsRow,
  insertApprovals,
} from './approval.ts'
import { type Proof, signProof } from './proof.ts'
import { type IbanOf, intentApprovalSubject, readCurrentIbans } from './subject.ts'

/** A proof has two rows: one is kept for its retention period, and the other can be erased. */
function proofRows(
  intentId: string,
  { jws, openings }: Proof,
  { tenant, now }: TenantNow,
): readonly [ApprovalRow, CommitmentOpeningsRow] {
  const { ownerId, mode } = tenant
  const head = { id: newId('approval'), ownerId, mode, createdAt: now, updatedAt: now }
  return [
    { ...head, intentId, jws, keptUntil: approvalRetainedUntil(now) },
    { ...head, openings },
  ]
}

export type ApproveIntentRequest = Parameters<ApproveIntentHandler['decide']>[0]
type Verdict = Parameters<ApproveIntentHandler['decide']>[2]

interface ReadSignatures {
  readonly checked: ReadonlyMap<WebauthnAssertion, CheckedAssertion>
  readonly proofs: ReadonlyMap<VerifiedAssertion, Proof>
}

export interface ApprovalSignatures extends ReadSignatures {
  readonly locked: LockedPasskeyChallenges
  readonly ibanOf: IbanOf
  readonly approvals: ApprovalRow[]
  readonly openings: CommitmentOpeningsRow[]
}

const envelopeOf = ({ input }: ApproveIntentRequest): WebauthnAssertion | undefined =>
  input.body.webauthnAssertion

/** Checks the signatures and signs the proofs before any lock, since both take time. */
export async function readApprovalSignatures(
  requests: readonly ApproveIntentRequest[],
  sql: Sql,
  ports: Pick<Ports, 'systems' | 'service'>,
): Promise<ReadSignatures> {
  const [first] = requests
  const envelopes = requests.flatMap(request => envelopeOf(request) ?? [])
  if (!first || envelopes.length === 0) return { checked: new Map(), proofs: new Map() }
  const checked = await readAssertions(sql, first.tenant, envelopes, ports.service)
  const genuine = [...checked.values()].flatMap(({ verified }) => verified ?? [])
  return { checked, proofs: new Map(genuine.map(one => [one, signProof(one, first, ports)])) }
}

/** Locks challenges and passkeys after the intents, and reads the present accounts of the intents. */
export async function lockApprovalSignatures(
  read: ReadSignatures,
  requests: readonly ApproveIntentRequest[],
  intents: ReadonlyMap<string, IntentRow>,
  { sql, tenant }: { readonly sql: Sql; readonly tenant: Tenant },
): Promise<ApprovalSignatures> {
  const signed = requests.filter(request => envelopeOf(request) !== undefined)
  const sent = signed.map(request => ({
    ...request,
    checked: read.checked.get(envelopeOf(request) as WebauthnAssertion) as CheckedAssertion,
  }))
  const [locked, ibanOf] = await Promise.all([
    lockPasskeyChallenges(sql, tenant, sent),
    readCurrentIbans(
      sql,
      tenant,
      signed.flatMap(({ input }) => intents.get(input.params.id) ?? []),
    ),
  ])
  return { ...read, locked, ibanOf, approvals: [], openings: [] }
}

export interface ApprovalSignature {
  readonly verified: VerifiedAssertion
  readonly proof: Proof
  readonly iban: string | null
}

type Judged = ApprovalSignature | Problem | Exclude<AssertionRefusalCode, 'assertion_required'> | undefined

/**
 * Judges the signature of a request over the intent as it is now. Uses up the challenge, even if the
 * signature is invalid. Undefined if no signature was sent.
 */
export function judgeApprovalSignature(
  request: ApproveIntentRequest,
  intent: IntentRow | undefined,
  spender: SpendingAgent | undefined,
  signatures: ApprovalSignatures,
  verdict: Verdict,
): Judged {
  const { actor } = request
  const envelope = envelopeOf(request)
  if (!envelope) return undefined
  const { checked, proofs, locked, ibanOf } = signatures
  const found = checked.get(envelope) as CheckedAssertion
  const stopped = locked.stopped.get(found)
  if (stopped) return stopped
  if (!intent || !spender) return (consumeChallenge(found, locked, verdict) ?? 'statement_outdated') as Judged
  const iban = ibanOf(intent)
  const personId = locked.challenges.get(envelope.challengeId)?.personId ?? null
  const members = intentApprovalSubject(intent, { spender, iban, personId })
  const caller = actor.type === 'console' ? actor.id : null
  const code = decideAssertion(found, locked, { kind: 'intent', members, personId: caller }, verdict)
  if (code) return code as Judged
  const { verified } = found
  const proof = verified && proofs.get(verified)
  if (!proof) throw new Error(`${found.challengeId} counts and is not verified`)
  return { verified, proof, iban }
}

export function storeApprovalProof(
  intentId: string,
  proof: Proof,
  { approvals, openings }: ApprovalSignatures,
  tenantNow: TenantNow,
): void {
  const [approval, opened] = proofRows(intentId, proof, tenantNow)
  approvals.push(approval)
  openings.push(opened)
}

export const writeApprovalSignatures = (
  { locked, approvals, openings }: ApprovalSignatures,
  sql: Sql,
  tenant: Tenant,
): Promise<unknown> =>
  Promise.all([writeAssertionUse(sql, tenant, locked), insertApprovals(sql, approvals, openings)])
