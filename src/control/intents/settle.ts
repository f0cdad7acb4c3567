import type { Tenant } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type Book, openBook } from '../../money/ledger/index.ts'
import { after } from '../../values/clock.ts'
import { type BudgetCounters, openCounters } from '../budgets/index.ts'
import { compiledTermsOf, controlsOf } from '../card-terms/index.ts'
import { type DecisionRow, insertDecisions } from '../decisions/index.ts'
import { decideSpend, lockSpendersOfIntents, type SpendDecision, type Spender } from '../policies/index.ts'
import { openRiskAssessor, type RiskAssessor } from '../risk/index.ts'
import type { intentsApi } from './api.ts'
import { noPasskeys } from './attestation.ts'
import { type BudgetLevels, openBudgetLevels, openBudgetLevelsOfIntents } from './budget-levels.ts'
import { cancelIntent } from './cancel.ts'
import { intentEvent } from './events.ts'
import { causeOf, type DecidedBy, intentMachine, TOKEN_LIFETIME_MS } from './intent.ts'
import { type IntentRow, lockIntents, updateIntents } from './intent-rows.ts'
import { spendForRisk } from './payees.ts'
import { intentProcess } from './process.ts'
import { type LatestPayments, latestPayments, unpaidResponse } from './response.ts'

type Approve = HandlerOf<typeof intentsApi.approve>
type Cancel = HandlerOf<typeof intentsApi.cancel>
type Expire = HandlerOf<typeof intentsApi.expire>
type SettleRequest = Parameters<(Approve | Cancel | Expire)['decide']>[0]

/** The records that a batch of intents is approved, cancelled or expired by, and what it has changed so far. */
interface BatchState {
  readonly tenant: Tenant
  readonly agents: ReadonlyMap<string, Spender>
  readonly intents: ReadonlyMap<string, IntentRow>
  readonly levels: BudgetLevels
  readonly counters: BudgetCounters
  readonly book: Book
  readonly riskAssessor: RiskAssessor
  readonly changed: Set<IntentRow>
  readonly decisions: DecisionRow[]
}

/**
 * Locks in the global order: agents, counters, accounts, then the intents. An approval reserves, so it needs the budget
 * levels and the risk; an end gives back what was reserved, so it needs the reservations and holds instead.
 */
async function loadBatch(
  requests: readonly SettleRequest[],
  sql: Sql,
  purpose: 'approve' | 'end',
): Promise<BatchState> {
  const { tenant, now } = requests[0] as SettleRequest
  const ends = purpose === 'end'
  const ids = [...new Set(requests.map(({ input }) => input.params.id))]
  const [agents, levels] = await Promise.all([
    lockSpendersOfIntents(sql, tenant, ids),
    ends ? openBudgetLevels(sql, tenant, []) : openBudgetLevelsOfIntents(sql, tenant, ids),
  ])
  const agentIds = [...agents.keys()]
  const causes = ends ? ids.map(id => causeOf({ id })) : []
  const countersToOpen = ends ? { causes, agents: agentIds } : { spending: [...agentIds, ...levels.subjects] }
  const wallets = [...agents.values()].map(({ walletId }) => walletId)
  const [counters, book, intents] = await Promise.all([
    openCounters(sql, { tenant, now }, countersToOpen),
    openBook(sql, { tenant, now }, { wallets, holds: causes }),
    lockIntents(sql, tenant, ids),
  ])
  const riskAssessor = await openRiskAssessor(sql, { tenant, now }, ends ? [] : [...intents.values()])
  return { tenant, agents, intents, levels, counters, book, riskAssessor, changed: new Set(), decisions: [] }
}

async function write(
  { tenant, counters, book, riskAssessor, changed, decisions }: BatchState,
  sql: Sql,
): Promise<void> {
  await Promise.all([
    updateIntents(sql, tenant, [...changed]),
    insertDecisions(sql, decisions),
    counters.write(sql),
    riskAssessor.write(sql),
    book.post(sql),
  ])
}

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
      approval: { attestedAt: noPasskeys.attestedAt(intent) },
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
  write,
}

/** Gives back the budget and the money that the intent has reserved. */
function release(intent: IntentRow, { counters, book, changed }: BatchState): void {
  changed.add(intent)
  counters.release(causeOf(intent))
  book.release(causeOf(intent))
}

interface CancelState extends BatchState {
  readonly payments: LatestPayments
}

/** An agent's token reaches the intents of its agent, that of a delegation those under the delegation. */
const isReached = ({ agentId, delegationId }: IntentRow, { actor }: SettleRequest): boolean =>
  (!actor.agentId || actor.agentId === agentId) &&
  (!actor.delegationId || actor.delegationId === delegationId)

export const cancel: Cancel = {
  async load(requests, sql, ports): Promise<CancelState> {
    const state = await loadBatch(requests, sql, 'end')
    const payments = await latestPayments([...state.intents.values()], { sql, tenant: state.tenant, ports })
    return { ...state, payments }
  },
  decide(request, state: CancelState, { emit, refuse, wake }) {
    const { input, now } = request
    const intent = state.intents.get(input.params.id)
    if (!intent || !isReached(intent, request)) return refuse('intent_not_found')
    if (intentMachine.isFinal(intent.status)) return refuse('intent_closed', alreadyMessage(intent.status))
    if (intent.paymentId) return refuse('intent_being_paid')
    if (intent.expiresAt <= now) return refuse('intent_expired')
    cancelIntent(intent, input.body.comment, { emit, wake })
    intent.updatedAt = now
    release(intent, state)
    return state.payments.responseOf(intent)
  },
  write,
}

/** Expires an intent past its deadline by the tenant's clock. Sweep and process may both try: the second changes nothing. */
export const expire: Expire = {
  load: (requests, sql) => loadBatch(requests, sql, 'end'),
  decide({ input, now }, state: BatchState, { emit, refuse, wake }) {
    const intent = state.intents.get(input.params.id)
    if (!intent) return refuse('intent_not_found')
    if (intent.paymentId || intent.expiresAt > now || !intentMachine.move(intent, 'expired'))
      return { expired: false }
    intent.updatedAt = now
    release(intent, state)
    emit('intent.expired', intentEvent(intent))
    if (intent.workflowId) wake(intentProcess, intent)
    return { expired: true }
  },
  write,
}

export const alreadyMessage = (status: string): string => `The intent is ${status} already.`

interface Decider {
  readonly type: string
  readonly id: string | null
}

/** An operator has no id of ours: only the name that came with the signal, which nothing proves. */
export const deciderOf = ({ type, id }: Decider): DecidedBy =>
  type === 'operator' ? { type, id: null, name: id } : { type: 'key', id, name: null }
