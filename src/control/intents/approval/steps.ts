import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { VerifiedAssertion } from '../../../identity/passkeys/index.ts'
import type { Tenant, TenantNow } from '../../../kernel/contract/actor.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { agrees, type Openings } from '../../../statements/index.ts'
import { newId } from '../../../values/ids.ts'
import type { Cents } from '../../../values/money.ts'
import {
  type ApprovalAdvance,
  type ApprovalProgress,
  type Approver,
  advanceApproval,
  approverRefusalCodes,
  beginApproval,
  deleteRecordedApprovals,
  dropApprovals,
  giveApproval,
  hasLostApprovers,
  insertRecordedApprovals,
  nextOfApproval,
  type RecordedApprovalRow,
  readApproversAndDeputies,
  recordedApprovalsOf,
  restartApproval,
  whyNotAsked,
} from '../../approvals/index.ts'
import type { SpendingAgent } from '../../policies/index.ts'
import { type ApprovalStep, asksForSteps } from '../../rules/index.ts'
import type { IntentRow } from '../intent.ts'
import type { GivenApproval } from './proof.ts'
import { intentApprovalSubject } from './subject.ts'

export const stepsOf = ({ policy }: Pick<SpendingAgent, 'policy'>): readonly ApprovalStep[] =>
  policy.terms?.approval ?? []

type ApprovedIntent = Pick<IntentRow, 'amountCents' | 'approval' | 'requesterId'>

/** How far the approvals have come by the present policy: where its steps have changed, they begin anew. */
export function approvalProgressOf(
  { approval, amountCents, requesterId }: ApprovedIntent,
  steps: readonly ApprovalStep[],
  now: Date,
): ApprovalProgress | undefined {
  if (!asksForSteps(steps, amountCents)) return undefined
  if (approval && isDeepStrictEqual(approval.steps, steps)) return approval
  return beginApproval(steps, amountCents, { now, requesters: requesterId ? [requesterId] : [] })
}

/** The salt of a commitment, the same in all statements about the intent; that of the person who signs is random. */
export const saltOfPlace = (salt: string, place: string): string | undefined =>
  place === 'person' ? undefined : placeSalt(salt, place)

const placeSalt = (salt: string, place: string): string =>
  createHash('sha256').update(`${salt} ${place}`).digest().subarray(0, 16).toString('base64url')

const isSaltedBy = ({ salt }: ApprovalProgress, openings: Openings): boolean =>
  Object.entries(openings).every(
    ([place, opening]) => opening.salt === (saltOfPlace(salt, place) ?? opening.salt),
  )

/** Too few people, or what the clock brings next: the run looks at it then. */
const dueAt = (progress: ApprovalProgress, approvers: readonly Approver[], now: Date): Date =>
  hasLostApprovers(progress, approvers) ? now : nextOfApproval(progress).at

export const setApproval = (
  intent: Pick<IntentRow, 'approval' | 'approvalDueAt'>,
  progress: ApprovalProgress,
  { approvers, now }: { readonly approvers: readonly Approver[]; readonly now: Date },
): void => {
  Object.assign(intent, { approval: progress, approvalDueAt: dueAt(progress, approvers, now) })
}

/** The approvals of a batch's intents that need several people. */
export class StepApprovals {
  readonly approvers: readonly Approver[]
  readonly #recorded: Map<string, readonly RecordedApprovalRow[]>
  readonly #added = new Set<RecordedApprovalRow>()
  readonly #removed = new Set<RecordedApprovalRow>()

  constructor(approvers: readonly Approver[], recorded: readonly RecordedApprovalRow[]) {
    this.approvers = approvers
    this.#recorded = Map.groupBy(recorded, ({ intentId }) => intentId)
  }

  of({ id }: Pick<IntentRow, 'id'>): readonly RecordedApprovalRow[] {
    return this.#recorded.get(id) ?? []
  }

  add(row: RecordedApprovalRow): void {
    this.#added.add(row)
    this.#recorded.set(row.intentId, [...this.of({ id: row.intentId }), row])
  }

  /** Only those that still count stay. */
  retain(intent: Pick<IntentRow, 'id'>, { given }: Pick<ApprovalProgress, 'given'>): void {
    const counts = ({ personId }: RecordedApprovalRow) => given.some(one => one.personId === personId)
    const all = this.of(intent)
    this.#recorded.set(intent.id, all.filter(counts))
    for (const row of all) if (!counts(row) && !this.#added.delete(row)) this.#removed.add(row)
  }

  remove(intent: Pick<IntentRow, 'id'>): void {
    this.retain(intent, { given: [] })
  }

  async write(sql: Sql, tenant: Tenant): Promise<void> {
    await Promise.all([
      this.#removed.size > 0 && deleteRecordedApprovals(sql, tenant, [...this.#removed]),
      insertRecordedApprovals(sql, [...this.#added]),
    ])
  }
}

/** The caller has locked the intents. Queries nothing where one person approves. */
export async function loadStepApprovals(
  intents: ReadonlyMap<string, IntentRow>,
  agents: ReadonlyMap<string, SpendingAgent>,
  { sql, tenant, now }: TenantNow & { readonly sql: Sql },
): Promise<StepApprovals> {
  const asked = [...intents.values()].filter(({ agentId, amountCents, approval }) => {
    const agent = agents.get(agentId)
    return approval !== null || (agent !== undefined && asksForSteps(stepsOf(agent), amountCents))
  })
  if (asked.length === 0) return new StepApprovals([], [])
  const ids = asked.map(({ id }) => id)
  return new StepApprovals(
    ...(await Promise.all([
      readApproversAndDeputies(sql, { tenant, now }),
      recordedApprovalsOf(sql, tenant, ids),
    ])),
  )
}

export interface CountedApproval {
  readonly progress: ApprovalProgress
  readonly isComplete: boolean
  /** Whether it was the last of its step, and the people of the next one are asked. */
  readonly beginsStep: boolean
  /** Whether the people of a later step were asked before their turn. */
  readonly hasEscalated: boolean
}

interface CountedSignature {
  readonly verified: VerifiedAssertion
  readonly iban: string | null
}

const STEP_OVER = 'The time of the approvals is over: the intent is being denied.'

type ApproverRefusal =
  | readonly [code: 'own_request' | 'already_approved' | 'approver_not_asked']
  | readonly [code: 'intent_not_waiting', message: string]

function refusalOf(
  { outcome, progress }: ApprovalAdvance,
  approvers: readonly Approver[],
  personId: string,
): ApproverRefusal | undefined {
  if (outcome === 'denied') return ['intent_not_waiting', STEP_OVER]
  const why = whyNotAsked(progress, approvers, personId)
  return why && [approverRefusalCodes[why]]
}

/** Why this person’s approval would not count; undefined if it would. */
export const whyNotAskedRefusal = (
  progress: ApprovalProgress,
  amount: Cents,
  {
    personId,
    ...circumstances
  }: { readonly approvers: readonly Approver[]; readonly now: Date; readonly personId: string },
): ApproverRefusal | undefined =>
  refusalOf(
    advanceApproval(dropApprovals(progress, circumstances.approvers), amount, circumstances),
    circumstances.approvers,
    personId,
  )

/**
 * Counts the approval of a person whose signature is genuine, or says why it does not count. What others have approved
 * counts while they may approve, and while it is what the person sees now.
 */
export function countApproval(
  intent: IntentRow,
  agent: SpendingAgent,
  { verified, iban }: CountedSignature,
  { steps, now }: { readonly steps: StepApprovals; readonly now: Date },
): CountedApproval | ApproverRefusal | readonly [code: 'statement_outdated'] {
  const { amountCents } = intent
  const { approvers } = steps
  const begun = approvalProgressOf(intent, stepsOf(agent), now)
  if (!begun || !isSaltedBy(begun, verified.openings)) return ['statement_outdated']
  const isOutdated = ({ signed, openings }: RecordedApprovalRow): boolean => {
    const personId = openings.person?.value ?? null
    const members = intentApprovalSubject(intent, { spender: agent, iban, personId })
    return !agrees(signed.statement, openings, { kind: 'intent', members })
  }
  const start = steps.of(intent).some(isOutdated)
    ? restartApproval(begun, amountCents, now)
    : dropApprovals(begun, approvers)
  const before = advanceApproval(start, amountCents, { approvers, now })
  const refusal = refusalOf(before, approvers, verified.person.id)
  if (refusal) return refusal
  const given = giveApproval(before.progress, approvers, { personId: verified.person.id, now })
  const after = advanceApproval(given, amountCents, { approvers, now })
  return {
    progress: after.progress,
    isComplete: after.outcome === 'approved',
    beginsStep: after.progress.position > given.position,
    hasEscalated: before.hasEscalated || after.hasEscalated,
  }
}

/** As the proof of all has it. */
export const givenApproval = ({
  signed,
  openings,
  personId,
  personName,
  createdAt,
}: RecordedApprovalRow): GivenApproval => ({
  ...signed,
  openings,
  person: { id: personId, name: personName },
  approvedAt: createdAt,
})

/** The row of an approval that waits for others. */
export function recordedApproval(
  { id: intentId }: Pick<IntentRow, 'id'>,
  { statement, openings, credentialId, publicKeyJwk, algorithm, assertion, person }: VerifiedAssertion,
  { tenant, now }: TenantNow,
): RecordedApprovalRow {
  return {
    ...tenant,
    id: newId('recordedapproval'),
    createdAt: now,
    updatedAt: now,
    intentId,
    personId: person.id,
    personName: person.name,
    signed: { statement, credentialId, publicKeyJwk, algorithm, assertion },
    openings,
  }
}
