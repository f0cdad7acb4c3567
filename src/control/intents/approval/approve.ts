import { after } from '../../../values/clock.ts'
import { compiledTermsOf, controlsOf } from '../../card-terms/index.ts'
import { decideSpend, type SpendDecision, type Spender } from '../../policies/index.ts'
import { intentEvent } from '../events.ts'
import { causeOf, intentMachine, TOKEN_LIFETIME_MS } from '../intent.ts'
import type { IntentRow } from '../intent-rows.ts'
import { spendForRisk } from '../payees.ts'
import { intentProcess } from '../process.ts'
import { unpaidResponse } from '../response.ts'
import {
  type Approve,
  alreadyMessage,
  type BatchState,
  loadBatch,
  type SettleRequest,
  writeBatch,
} from '../settle.ts'
import { deciderOf } from './decider.ts'

/** Decides again with a person's approval: by the policy and the limits of now, and the risk of the declaration. */
function decideApproval(
  request: SettleRequest,
  intent: IntentRow,
  agent: Spender,
  { levels, counters, book }: BatchState,
): SpendDecision {
  const { amountEuros, merchant, payeeIban, mcc, country, possibleDuplicateOf, decision } = intent
  const card = levels.cardOf(intent)
  return decideSpend(
    agent,
    {
      kind: 'intent',
      amountEuros,
      merchant,
      payeeIban,
      mcc,
      country,
      possibleDuplicateOf,
      intentId: null,
      budgets: levels.budgetsOf(intent, counters),
      // The person approves the risk that the declaration showed.
      risk: decision.risk ?? null,
      approval: { attestedAt: null },
      walletFrozen: book.isFrozen(agent.walletId),
      availableEuros: book.available(agent.walletId),
      card: card ? controlsOf(card) : null,
    },
    counters.snapshotOf(agent.id, agent.term),
    request,
    causeOf(intent),
    card ? compiledTermsOf(card) : null,
  )
}

/** The code of a refused approval, by the rule that fails; any other rule gives `against_policy`. */
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

/** The deadline of an intent from its approval on: a payment token can be charged for its time from now. */
const deadlineOf = (intent: IntentRow, now: Date, { levels }: BatchState): Date =>
  intent.paymentTokenId ? levels.cappedExpiry(intent, after(now, TOKEN_LIFETIME_MS)) : intent.expiresAt

const SIGN_IT =
  'In the console a person approves with a passkey: POST /passkeys/intents/{id}/challenge gives what it signs.'

/** A person approves by the API or by a signal to the process; the first of several counts. */
export const approve: Approve = {
  load: (requests, sql) => loadBatch(requests, sql, 'approve'),
  decide(request, state: BatchState, { emit, refuse, wake }) {
    const { input, actor, now } = request
    const intent = state.intents.get(input.params.id)
    const agent = intent && state.agents.get(intent.agentId)
    if (!intent || !agent) return refuse('intent_not_found')
    if (intent.status !== 'created') return refuse('intent_not_waiting', alreadyMessage(intent.status))
    if (intent.expiresAt <= now) return refuse('intent_expired')
    if (actor.type === 'console') return refuse('attestation_required', SIGN_IT)
    const blocker = state.levels.blockerOf(intent, now, intent.id)
    if (blocker) return refuse(blocker)
    const decided = decideApproval(request, intent, agent, state)
    const { ruling, decision, row } = decided
    state.decisions.push(row)
    if (!ruling.allowed) return refuse(approvalRefusal(decided), ruling.reason)
    intentMachine.move(intent, 'approved')
    const subjects = [agent.id, ...state.levels.subjectsOf(intent)]
    state.counters.reserve(causeOf(intent), subjects, ruling.holdEuros, agent.term)
    state.book.hold(agent.walletId, ruling.holdEuros, causeOf(intent))
    state.riskAssessor.learn(agent.id, spendForRisk(intent), intent.createdAt)
    const { comment } = input.body
    const { holdEuros } = ruling
    const decidedBy = deciderOf(actor)
    const expiresAt = deadlineOf(intent, now, state)
    Object.assign(intent, {
      decidedAt: now,
      updatedAt: now,
      decidedBy,
      comment,
      decision,
      holdEuros,
      expiresAt,
    })
    state.changed.add(intent)
    emit('intent.approved', intentEvent(intent, comment ?? undefined))
    wake(intentProcess, intent)
    return unpaidResponse(intent)
  },
  write: writeBatch,
}
