import type { Actor, TenantNow } from '../../../kernel/contract/actor.ts'
import type { NonEmpty } from '../../../kernel/contract/handlers.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { Problem } from '../../../kernel/contract/problem.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { after } from '../../../values/clock.ts'
import { compiledTermsOf, controlsOf } from '../../card-terms/index.ts'
import { summarize } from '../../decisions/index.ts'
import { decideSpend, type SpendDecision, type Spender } from '../../policies/index.ts'
import { causeOf, type DecidedBy, type IntentRow, intentMachine, TOKEN_LIFETIME_MS } from '../intent.ts'
import { type Approve, alreadyMessage, type IntentBatch, loadBatch, writeBatch } from '../intent-batch.ts'
import { spendForRisk } from '../payees.ts'
import { intentProcess } from '../process.ts'
import { intentEvent, unpaidResponse } from '../response.ts'
import type { Funds } from '../spend-context.ts'
import {
  type ApproveRequest,
  judgeSignature,
  keepProof,
  lockSignatures,
  readSignatures,
  type Signature,
  type Signatures,
  writeSignatures,
} from './signatures.ts'

interface Signer {
  readonly id: string
  readonly name: string
}

type PersonalDecision = DecidedBy & { type: 'key' | 'console' | 'operator' }

/**
 * The decider is the person who signed, even if a key sends the signature. Without a signature, it is a
 * person in the console, or a key. An operator has no id here, only the unproven name in the signal.
 */
export function deciderOf(
  { type, id, name }: Pick<Actor, 'type' | 'id' | 'name'>,
  signer?: Signer,
): PersonalDecision {
  if (signer) return { type: 'console', id: signer.id, name: signer.name }
  if (type === 'operator') return { type, id: null, name: id }
  return type === 'console' ? { type, id, name: name ?? null } : { type: 'key', id, name: null }
}

interface Attestation extends Pick<Signature, 'iban'> {
  readonly verified: Pick<Signature['verified'], 'attestedAt'>
}

/** Decides again with a person's approval, by the present policy and limits, and with the risk of the declaration. */
export function decideApproval(
  tenantNow: TenantNow,
  intent: Omit<IntentRow, 'holdCents'>,
  agent: Spender,
  { levels, counters, book }: Pick<IntentBatch, 'levels' | 'counters'> & { readonly book: Funds },
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
      card: card ? controlsOf(card) : null,
      namedCard: card ? { id: card.id, status: card.status } : null,
    },
    counters.snapshotOf(agent.id, agent.term),
    tenantNow,
    causeOf(intent),
    card ? compiledTermsOf(card) : null,
  )
}

/** The refusal of an approval by the rule that fails. Every other rule refuses with `against_policy`. */
const refusalByRule = {
  agentStatus: 'agent_not_active',
  walletStatus: 'wallet_frozen',
  insufficient_funds: 'insufficient_funds',
  requireAttestation: 'attestation_required',
} as const

function approvalRefusal({ ruling: { checks } }: SpendDecision) {
  const rule = checks.find(({ outcome }) => outcome === 'fail')?.rule
  return refusalByRule[rule as keyof typeof refusalByRule] ?? 'against_policy'
}

const deadlineOf = (intent: IntentRow, now: Date, { levels }: IntentBatch): Date =>
  intent.paymentTokenId ? levels.cappedExpiry(intent, after(now, TOKEN_LIFETIME_MS)) : intent.expiresAt

function notWaitingBecause(
  { status, expiresAt }: IntentRow,
  now: Date,
): readonly [code: 'intent_not_waiting' | 'intent_expired', message?: string] | undefined {
  if (status !== 'created') return ['intent_not_waiting', alreadyMessage(status)]
  return expiresAt <= now ? ['intent_expired'] : undefined
}

interface ApproveState extends IntentBatch {
  readonly signatures: Signatures
}

/** Checks the signatures before any row is locked, and locks their challenges after all other rows. */
async function load(requests: NonEmpty<ApproveRequest>, sql: Sql, ports: Ports): Promise<ApproveState> {
  const read = await readSignatures(requests, sql, ports)
  const batch = await loadBatch(requests, sql, 'approve')
  const { tenant, intents } = batch
  return { ...batch, signatures: await lockSignatures(read, requests, intents, { sql, tenant }) }
}

/** Reserves budget and money for the approved intent, and stores the proof if a passkey has signed it. */
function applyApproval(
  { input, actor, tenant, now }: ApproveRequest,
  intent: IntentRow,
  agent: Spender,
  { ruling, decision }: SpendDecision,
  state: ApproveState,
  signature: Signature | undefined,
): void {
  intentMachine.move(intent, 'approved')
  const { holdCents } = ruling
  const subjects = [agent.id, ...state.levels.subjectsOf(intent)]
  state.counters.reserve(causeOf(intent), subjects, holdCents, agent.term)
  state.book.hold(agent.walletId, holdCents, causeOf(intent))
  state.riskAssessor.learn(agent.id, spendForRisk(intent), intent.createdAt)
  Object.assign(intent, {
    decidedAt: now,
    updatedAt: now,
    decidedBy: deciderOf(actor, signature?.verified.person),
    comment: input.body.comment,
    decision,
    decisionSummary: summarize(decision),
    holdCents,
    expiresAt: deadlineOf(intent, now, state),
    payeeIban: signature ? signature.iban : intent.payeeIban,
  })
  state.changed.add(intent)
  if (signature) keepProof(intent.id, signature, state.signatures, { tenant, now })
}

const SIGN_IT =
  'In the console a person approves with a passkey: POST /passkeys/intents/{intentId}/challenge gives what it signs.'

/** Runs for the API and for a signal to the process. Only the first of several approvals counts. */
export const approve: Approve = {
  load,
  decide(request, state: ApproveState, verdict) {
    const { input, actor, now } = request
    const { emit, refuse, wake } = verdict
    const intent = state.intents.get(input.params.id)
    const agent = intent && state.agents.get(intent.agentId)
    const signature = judgeSignature(request, intent, agent, state.signatures, verdict)
    if (signature instanceof Problem) return signature
    if (!intent || !agent) return refuse('intent_not_found')
    if (typeof signature === 'string') return refuse(signature)
    const over = notWaitingBecause(intent, now)
    if (over) return refuse(...over)
    if (actor.type === 'console' && !signature) return refuse('attestation_required', SIGN_IT)
    const blocker = state.levels.blockerOf(intent, now, intent.id)
    if (blocker) return refuse(blocker)
    const decided = decideApproval(request, intent, agent, state, signature)
    state.decisions.push(decided.row)
    const { allowed, reason } = decided.ruling
    if (!allowed) return refuse(approvalRefusal(decided), reason)
    applyApproval(request, intent, agent, decided, state, signature)
    emit('intent.approved', intentEvent(intent, input.body.comment ?? undefined))
    wake(intentProcess, intent)
    return unpaidResponse(intent)
  },
  async write(state: ApproveState, sql) {
    await Promise.all([writeBatch(state, sql), writeSignatures(state.signatures, sql, state.tenant)])
  },
}
