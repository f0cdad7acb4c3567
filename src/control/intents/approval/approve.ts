import {
  type ApprovalProgress,
  type CountedApproval,
  setApproval,
} from '../../../identity/approvals/index.ts'
import type { Actor, TenantNow } from '../../../kernel/contract/actor.ts'
import type { NonEmpty } from '../../../kernel/contract/handlers.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { Problem } from '../../../kernel/contract/problem.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { asksForSteps } from '../../../values/approval-steps.ts'
import { addMs } from '../../../values/clock.ts'
import { cardControlsFromTerms, compileStoredCardTerms } from '../../card-terms/index.ts'
import { summarizeDecision } from '../../decisions/index.ts'
import {
  approvalStepsOf,
  cappedByPolicy,
  decideSpend,
  type SpendDecision,
  type SpendingAgent,
} from '../../policies/index.ts'
import {
  INTENT_TOKEN_TTL_MS,
  type IntentDecider,
  type IntentRow,
  intentCause,
  intentMachine,
} from '../intent.ts'
import {
  type ApproveIntentHandler,
  alreadyInStatusMessage,
  type IntentBatch,
  loadIntentBatch,
  writeIntentBatch,
} from '../intent-batch.ts'
import { riskScoredSpend } from '../payees.ts'
import { intentProcess } from '../process.ts'
import { approvalEvent, intentEvent, unpaidIntentResponse } from '../response.ts'
import type { WalletFunds } from '../spend-locks.ts'
import { type Proof, signProofOfSeveral } from './proof.ts'
import {
  type ApprovalSignature,
  type ApprovalSignatures,
  type ApproveIntentRequest,
  judgeApprovalSignature,
  lockApprovalSignatures,
  readApprovalSignatures,
  storeApprovalProof,
  writeApprovalSignatures,
} from './signatures.ts'
import {
  countApproval,
  givenApproval,
  loadStepApprovals,
  recordedApproval,
  type StepApprovals,
} from './steps.ts'

interface Signer {
  readonly id: string
  readonly name: string
}

type PersonalDecision = IntentDecider & { type: 'key' | 'console' | 'operator' }

/**
 * The decider is the person who signed, even if a key sends the signature. Without a signature, it is a
 * person in the console, or a key. An operator has no id here, only the unproven name in the signal.
 */
export function personalDecision(
  { type, id, name }: Pick<Actor, 'type' | 'id' | 'name'>,
  signer?: Signer,
): PersonalDecision {
  if (signer) return { type: 'console', id: signer.id, name: signer.name }
  if (type === 'operator') return { type, id: null, name: id }
  return type === 'console' ? { type, id, name: name ?? null } : { type: 'key', id, name: null }
}

interface Attestation extends Pick<ApprovalSignature, 'iban'> {
  readonly verified: Pick<ApprovalSignature['verified'], 'attestedAt'>
}

/** Decides again with a person's approval, by the present policy and limits, and with the risk of the declaration. */
export function decideApproval(
  tenantNow: TenantNow,
  intent: Omit<IntentRow, 'holdCents'>,
  agent: SpendingAgent,
  { levels, counters, book }: Pick<IntentBatch, 'levels' | 'counters'> & { readonly book: WalletFunds },
  signature: Attestation | undefined,
): SpendDecision {
  const { amountCents, merchant, mcc, country, possibleDuplicateOf, decision } = intent
  const card = levels.cardOf(intent)
  return decideSpend(
    agent,
    {
      kind: 'intent',
      amountCents,
      merchant,
      payeeIban: signature ? signature.iban : intent.payeeIban,
      mcc,
      country,
      possibleDuplicateOf,
      intentId: null,
      budgets: levels.budgetsOf(intent, counters),
      // The person approves the risk that the declaration showed.
      risk: decision.risk ?? null,
      approval: { attestedAt: signature?.verified.attestedAt ?? null },
      walletFrozen: book.isFrozen(agent.walletId),
      availableCents: book.available(agent.walletId),
      card: card ? cardControlsFromTerms(card) : null,
      namedCard: card ? { id: card.id, status: card.status } : null,
    },
    counters.snapshotOf(agent.id, agent.term),
    tenantNow,
    intentCause(intent),
    card ? compileStoredCardTerms(card) : null,
  )
}

/** The refusal of an approval by the rule that fails. Every other rule refuses with `against_policy`. */
const refusalByRule = {
  agentStatus: 'agent_not_active',
  walletStatus: 'wallet_frozen',
  insufficient_funds: 'insufficient_funds',
  requireAttestation: 'attestation_required',
  approval: 'attestation_required',
} as const

function approvalRefusal({ ruling: { checks } }: SpendDecision) {
  const rule = checks.find(({ outcome }) => outcome === 'fail')?.rule
  return refusalByRule[rule as keyof typeof refusalByRule] ?? 'against_policy'
}

const deadlineOf = (intent: IntentRow, now: Date, { levels }: IntentBatch): Date =>
  intent.paymentTokenId ? levels.cappedExpiry(intent, addMs(now, INTENT_TOKEN_TTL_MS)) : intent.expiresAt

function notWaitingBecause(
  { status, expiresAt }: IntentRow,
  now: Date,
): readonly [code: 'intent_not_waiting' | 'intent_expired', message?: string] | undefined {
  if (status !== 'created') return ['intent_not_waiting', alreadyInStatusMessage(status)]
  return expiresAt <= now ? ['intent_expired'] : undefined
}

interface ApproveState extends IntentBatch {
  readonly signatures: ApprovalSignatures
  readonly steps: StepApprovals
  readonly ports: Pick<Ports, 'systems' | 'service'>
}

/** Checks the signatures before any row is locked, and locks their challenges after all other rows. */
async function load(
  requests: NonEmpty<ApproveIntentRequest>,
  sql: Sql,
  ports: Pick<Ports, 'systems' | 'service'>,
): Promise<ApproveState> {
  const read = await readApprovalSignatures(requests, sql, ports)
  const batch = await loadIntentBatch(requests, sql, 'approve', ports)
  const { tenant, intents, agents } = batch
  const [signatures, steps] = await Promise.all([
    lockApprovalSignatures(read, requests, intents, { sql, tenant }),
    loadStepApprovals(intents, agents, { sql, tenant, now: requests[0].now }),
  ])
  return { ...batch, signatures, steps, ports }
}

/** Keeps the approval of a person until the others have approved as well. */
function recordApproval(
  { tenant, now }: TenantNow,
  intent: IntentRow,
  { progress }: CountedApproval,
  state: ApproveState,
  { verified }: ApprovalSignature,
): void {
  state.steps.add(recordedApproval(intent, verified, { tenant, now }))
  keepProgress(intent, progress, now, state)
}

function keepProgress(intent: IntentRow, progress: ApprovalProgress, now: Date, state: ApproveState): void {
  const { steps, changed } = state
  steps.retain(intent, progress)
  setApproval(intent, progress, { approvers: steps.approvers, now })
  intent.updatedAt = now
  changed.add(intent)
}

/** Several people have one proof together, which replaces what was kept of each. */
function completeApproval(
  { tenant, now }: TenantNow,
  intent: IntentRow,
  { progress }: CountedApproval,
  { steps, ports }: ApproveState,
  { verified, proof }: ApprovalSignature,
): Proof {
  steps.retain(intent, progress)
  // The person may have approved before by other steps of the policy.
  const others = steps.of(intent).filter(({ personId }) => personId !== verified.person.id)
  steps.remove(intent)
  // All have signed, so what the commitments are salted with is needed no more.
  Object.assign(intent, { approval: { ...progress, salt: '' }, approvalDueAt: null })
  if (others.length === 0) return proof
  const all = [...others.map(givenApproval), { ...verified, approvedAt: now }]
  return signProofOfSeveral(all, { tenant }, ports)
}

/** Reserves budget and money for the approved intent, and stores the proof if a passkey has signed it. */
function applyApproval(
  { input, actor, tenant, now }: ApproveIntentRequest,
  intent: IntentRow,
  agent: SpendingAgent,
  { ruling, decision }: SpendDecision,
  state: ApproveState,
  signature: (ApprovalSignature & { readonly counted: CountedApproval | undefined }) | undefined,
): void {
  intentMachine.move(intent, 'approved')
  const { holdCents } = ruling
  const subjects = [agent.id, ...state.levels.subjectsOf(intent)]
  state.counters.reserve(intentCause(intent), subjects, holdCents, agent.term)
  state.book.hold(agent.walletId, holdCents, intentCause(intent))
  state.riskAssessor.learn(agent.id, riskScoredSpend(intent), intent.createdAt)
  Object.assign(intent, {
    decidedAt: now,
    updatedAt: now,
    decidedBy: personalDecision(actor, signature?.verified.person),
    comment: input.body.comment,
    decision,
    decisionSummary: summarizeDecision(decision),
    holdCents,
    expiresAt: cappedByPolicy(agent, deadlineOf(intent, now, state)),
    payeeIban: signature ? signature.iban : intent.payeeIban,
  })
  state.changed.add(intent)
  // The policy may ask several people no more.
  if (!signature?.counted && intent.approval) {
    state.steps.remove(intent)
    Object.assign(intent, { approval: null, approvalDueAt: null })
  }
  if (!signature) return
  const { counted } = signature
  const proof = counted
    ? completeApproval({ tenant, now }, intent, counted, state, signature)
    : signature.proof
  storeApprovalProof(intent.id, proof, state.signatures, { tenant, now })
}

const SIGN_IT =
  'In the console, a person approves with a passkey. POST /passkeys/intents/{intentId}/challenge returns what to sign.'

/** Runs for the API and for a signal to the process. Only the first of several approvals counts. */
export const approveIntent: ApproveIntentHandler = {
  load,
  decide(request, state: ApproveState, verdict) {
    const { input, actor, now } = request
    const { emit, refuse, wake } = verdict
    const intent = state.intents.get(input.params.id)
    const agent = intent && state.agents.get(intent.agentId)
    const signature = judgeApprovalSignature(request, intent, agent, state.signatures, verdict)
    if (signature instanceof Problem) return signature
    if (!intent || !agent) return refuse('intent_not_found')
    if (typeof signature === 'string') return refuse(signature)
    const over = notWaitingBecause(intent, now)
    if (over) return refuse(...over)
    if (actor.type === 'console' && !signature) return refuse('attestation_required', SIGN_IT)
    const blocker = state.levels.blockerOf(intent, now, intent.id)
    if (blocker) return refuse(blocker)
    const counted =
      signature && asksForSteps(approvalStepsOf(agent), intent.amountCents)
        ? countApproval(intent, agent, signature, { steps: state.steps, now })
        : undefined
    if (counted && 'anew' in counted) {
      keepProgress(intent, counted.anew, now, state)
      emit('intent.approval_reminder', approvalEvent(intent))
      wake(intentProcess, intent)
      return refuse(...counted.refusal)
    }
    if (counted && !('progress' in counted)) return refuse(counted[0], counted[1])
    const decided = decideApproval(request, intent, agent, state, signature)
    const isComplete = counted?.isComplete ?? true
    if (isComplete) state.decisions.push(decided.row)
    const { allowed, reason } = decided.ruling
    if (!allowed) return refuse(approvalRefusal(decided), reason)
    if (isComplete)
      applyApproval(request, intent, agent, decided, state, signature && { ...signature, counted })
    else if (counted && signature) recordApproval(request, intent, counted, state, signature)
    const comment = input.body.comment ?? undefined
    if (counted?.hasEscalated) emit('intent.approval_escalated', approvalEvent(intent))
    if (isComplete) emit('intent.approved', intentEvent(intent, comment))
    else
      emit('intent.approval_recorded', {
        ...approvalEvent(intent, comment),
        personId: signature?.verified.person.id,
        ...(counted?.beginsStep && { beginsStep: true }),
      })
    wake(intentProcess, intent)
    return unpaidIntentResponse(intent, state.steps.approvers)
  },
  async write(state: ApproveState, sql) {
    await Promise.all([
      writeIntentBatch(state, sql),
      writeApprovalSignatures(state.signatures, sql, state.tenant),
      state.steps.write(sql, state.tenant),
    ])
  },
}
