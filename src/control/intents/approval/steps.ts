import { createHash } from 'node:crypto'
import {
  type ApprovalProgress,
  type Approver,
  addApproval,
  approvalProgressOf,
  type CountedApproval,
  deleteRecordedApprovals,
  insertRecordedApprovals,
  type RecordedApprovalRow,
  readApproversAndDeputies,
  recordedApprovalsOf,
  restartApproval,
  type UncountedApproval,
} from '../../../identity/approvals/index.ts'
import type { VerifiedAssertion } from '../../../identity/passkeys/index.ts'
import type { Tenant, TenantNow } from '../../../kernel/contract/actor.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { agrees, type Openings } from '../../../statements/index.ts'
import { asksForSteps } from '../../../values/approval-steps.ts'
import { newId } from '../../../values/ids.ts'
import { approvalStepsOf, type SpendingAgent } from '../../policies/index.ts'
import type { IntentRow } from '../intent.ts'
import type { GivenApproval } from './proof.ts'
import { intentApprovalSubject } from './subject.ts'

/** The salt of a commitment, the same in all statements about the intent; that of the person who signs is random. */
export const saltOfPlace = (salt: string, place: string): string | undefined =>
  place === 'person' ? undefined : placeSalt(salt, place)

const placeSalt = (salt: string, place: string): string =>
  createHash('sha256').update(`${salt} ${place}`).digest().subarray(0, 16).toString('base64url')

const isSaltedBy = ({ salt }: ApprovalProgress, openings: Openings): boolean =>
  Object.entries(openings).every(
    ([place, opening]) => opening.salt === (saltOfPlace(salt, place) ?? opening.salt),
  )

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

  /** In the place of an earlier one of the same person. */
  add(row: RecordedApprovalRow): void {
    const intent = { id: row.intentId }
    this.#keep(intent, ({ personId }) => personId !== row.personId)
    this.#added.add(row)
    this.#recorded.set(intent.id, [...this.of(intent), row])
  }

  /** Only those that still count stay. */
  retain(intent: Pick<IntentRow, 'id'>, { given }: Pick<ApprovalProgress, 'given'>): void {
    this.#keep(intent, ({ personId }) => given.some(one => one.personId === personId))
  }

  #keep(intent: Pick<IntentRow, 'id'>, counts: (row: RecordedApprovalRow) => boolean): void {
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
    return approval !== null || (agent !== undefined && asksForSteps(approvalStepsOf(agent), amountCents))
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

interface CountedSignature {
  readonly verified: VerifiedAssertion
  readonly iban: string | null
}

const STEP_OVER = 'Too few people have approved in time, or are left who can: the intent is being denied.'

type ApproverRefusal = readonly [
  code: Exclude<UncountedApproval, 'step_ended'> | 'intent_not_waiting',
  message?: string,
]

/** How an operation on an intent refuses an approval that does not count. */
export const refusalOfApprover = (problem: UncountedApproval): ApproverRefusal =>
  problem === 'step_ended' ? ['intent_not_waiting', STEP_OVER] : [problem]

interface AskedAnew {
  readonly anew: ApprovalProgress
  readonly refusal: ApproverRefusal
}

/**
 * Counts the approval of a person whose signature is genuine, or says why it does not count. What others have approved
 * counts while they may approve, and while it is what the person sees now: otherwise all are asked anew, from the first step.
 */
export function countApproval(
  intent: IntentRow,
  agent: SpendingAgent,
  { verified, iban }: CountedSignature,
  { steps, now }: { readonly steps: StepApprovals; readonly now: Date },
): CountedApproval | AskedAnew | ApproverRefusal | readonly [code: 'statement_outdated'] {
  const { amountCents } = intent
  const { approvers } = steps
  const begun = approvalProgressOf(intent, amountCents, { steps: approvalStepsOf(agent), now })
  if (!begun || !isSaltedBy(begun, verified.openings)) return ['statement_outdated']
  const isOutdated = ({ signed, openings }: RecordedApprovalRow): boolean => {
    const personId = openings.person?.value ?? null
    const members = intentApprovalSubject(intent, { spender: agent, iban, personId })
    return !agrees(signed.statement, openings, { kind: 'intent', members })
  }
  const circumstances = { personId: verified.person.id, approvers, now }
  if (!steps.of(intent).some(isOutdated)) {
    const counted = addApproval(begun, amountCents, circumstances)
    return typeof counted === 'string' ? refusalOfApprover(counted) : counted
  }
  const anew = restartApproval(begun, amountCents, now)
  const counted = addApproval(anew, amountCents, circumstances)
  return typeof counted === 'string'
    ? { anew, refusal: refusalOfApprover(counted) }
    : { ...counted, beginsStep: true }
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
