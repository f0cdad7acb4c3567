import {
  type Approver,
  approvalProgressOf,
  readApprovers,
  setApproval,
} from '../../identity/approvals/index.ts'
import { personBehind } from '../../kernel/contract/actor.ts'
import type { BatchItem, HotHandler, NonEmpty } from '../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { LockedBook } from '../../money/ledger/index.ts'
import { asksForSteps } from '../../values/approval-steps.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { type DecisionRow, summarizeDecision } from '../decisions/index.ts'
import { intentMerchantKey } from '../merchants/index.ts'
import { approvalStepsOf, cappedByPolicy, type SpendingAgent } from '../policies/index.ts'
import type { SpendRuling } from '../rules/index.ts'
import type { intentsApi } from './api.ts'
import {
  duplicateFingerprint,
  INTENT_TOKEN_TTL_MS,
  type IntentDecider,
  type IntentRow,
  insertIntents,
  intentCause,
  intentMachine,
} from './intent.ts'
import { type PaymentTokenPayee, type ResolvedPayees, resolvePayees, riskScoredSpend } from './payees.ts'
import { intentProcess } from './process.ts'
import { intentEvent, unpaidIntentResponse } from './response.ts'
import {
  approversOf,
  budgetLevelBlocker,
  budgetLevelIds,
  decideIntentSpend,
  loadSpendDecisionContext,
  type ProposedSpend,
  type SpendDecisionContext,
  spendingAgentFor,
} from './spend-context.ts'
import { SpendLocks } from './spend-locks.ts'

type Create = HandlerOf<typeof intentsApi.create>
type CreateInput = Parameters<Create['decide']>[0]['input']

export type DeclareIntentRequest = BatchItem<
  Omit<CreateInput, 'body'> & {
    readonly body: CreateInput['body'] & { readonly paymentToken?: PaymentTokenPayee }
  }
>

export interface DeclareIntentState extends SpendDecisionContext<LockedBook> {
  readonly payees: ResolvedPayees
  readonly takenClientIds: Set<string>
  readonly declared: IntentRow[]
  readonly decisions: DecisionRow[]
  /** Read only where a policy asks several people. */
  readonly approvers: readonly Approver[]
}

const clientIdKey = (agentId: string, clientIntentId: string): string => `${agentId} ${clientIntentId}`

const TAKEN_CLIENT_IDS = `
select agent_id as "agentId", client_intent_id as "clientIntentId" from intents
where owner_id = $1 and mode = $2 and agent_id = any($3::text[]) and client_intent_id = any($4::text[])`

/** Resolves payees first, because every rule needs them. Then locks agents, counters and accounts, and reads. */
async function loadBatch(
  requests: NonEmpty<DeclareIntentRequest>,
  sql: Sql,
  { service }: Pick<Ports, 'service'>,
): Promise<DeclareIntentState> {
  const { tenant, now } = requests[0]
  const bodies = requests.map(({ input }) => input.body)
  const payees = await resolvePayees(sql, tenant, bodies, service)
  const spends = requests.map(request => proposedSpend(request, payees))
  const agentIds = spends.map(({ agentId }) => agentId)
  const clientIds = bodies.flatMap(({ clientIntentId }) => clientIntentId ?? [])
  const [spendContext, taken] = await Promise.all([
    loadSpendDecisionContext(new SpendLocks(sql, { tenant, now }), spends, service),
    clientIds.length === 0
      ? []
      : sql<{ agentId: string; clientIntentId: string }>(TAKEN_CLIENT_IDS, [
          tenant.ownerId,
          tenant.mode,
          agentIds,
          clientIds,
        ]),
  ])
  const takenClientIds = new Set(taken.map(row => clientIdKey(row.agentId, row.clientIntentId)))
  const asksSeveral = spends.some(({ agentId, amountCents }) => {
    const agent = spendContext.agents.get(agentId)
    return agent !== undefined && asksForSteps(approvalStepsOf(agent), amountCents)
  })
  const approvers = asksSeveral ? await readApprovers(sql, tenant) : []
  return { ...spendContext, payees, takenClientIds, declared: [], decisions: [], approvers }
}

function proposedSpend(
  { input: { body }, actor, runId }: DeclareIntentRequest,
  payees: ResolvedPayees,
): ProposedSpend {
  return {
    ...payees.resolve(body),
    ...budgetLevelIds(actor, runId, body),
    agentId: body.agentId ?? actor.agentId ?? '',
    ...approversOf(actor),
    amountCents: body.amountCents,
    mcc: body.mcc,
  }
}

function refusalOf(request: DeclareIntentRequest, spend: ProposedSpend, state: DeclareIntentState) {
  const { body } = request.input
  const { payees } = state
  const unusable = payees.refusalOf(body, body.amountCents)
  if (unusable) return unusable
  const blocker = budgetLevelBlocker(spend, state, request.now, request.runId)
  if (blocker) return [blocker] as const
  const contradiction = payees.contradiction(body)
  return contradiction === undefined ? undefined : (['payee_mismatch', contradiction] as const)
}

const lifetimeOf = ({ input: { body } }: DeclareIntentRequest, needsPerson: boolean): number =>
  body.paymentToken && !needsPerson ? INTENT_TOKEN_TTL_MS : minutes(body.expiresInMinutes)

/** A mandate decides in place of the person who signed it. The policy decides everything outside its terms. */
const deciderOf = ({ mandate }: SpendRuling, { policyId }: SpendingAgent): IntentDecider =>
  mandate
    ? { type: 'mandate', id: mandate.id, name: mandate.name }
    : { type: 'policy', id: policyId, name: null }

function newIntent(
  request: DeclareIntentRequest,
  spend: ProposedSpend,
  agent: SpendingAgent,
  state: DeclareIntentState,
): IntentRow {
  const { tenant, now, input } = request
  const { expiresInMinutes: _, paymentToken, ...members } = input.body
  const { agentId, merchant, payeeIban, country, runId, delegationId, tokenId } = spend
  const cause = intentCause({ id: newId('intent') })
  const { ruling, decision, row, possibleDuplicateOf } = decideIntentSpend(
    spend,
    agent,
    state,
    request,
    cause,
  )
  state.decisions.push(row)
  const needsPerson = ruling.requiresApproval
  const isApproved = ruling.allowed && !needsPerson
  if (isApproved) {
    const subjects = [agent.id, ...state.levels.subjectsOf(spend, ruling.mandate?.id)]
    state.counters.reserve(cause, subjects, ruling.holdCents, agent.term)
    state.funds.hold(agent.walletId, ruling.holdCents, cause)
    state.riskAssessor.learn(agent.id, riskScoredSpend(spend), now)
  }
  const decidedStatus = ruling.allowed ? 'approved' : 'denied'
  const expiresAt = state.levels.cappedExpiry(spend, addMs(now, lifetimeOf(request, needsPerson)))
  const intent: IntentRow = {
    ...members,
    ...tenant,
    id: cause.id,
    createdAt: now,
    updatedAt: now,
    agentId,
    merchant,
    payeeIban,
    country,
    runId,
    delegationId,
    tokenId,
    paymentTokenId: (ruling.allowed || needsPerson) && paymentToken ? paymentToken.id : null,
    merchantKey: intentMerchantKey(merchant),
    holdCents: isApproved ? ruling.holdCents : null,
    currency: 'EUR',
    fingerprint: duplicateFingerprint(spend),
    possibleDuplicateOf,
    expiresAt: isApproved ? cappedByPolicy(agent, expiresAt) : expiresAt,
    status: needsPerson ? intentMachine.initial : decidedStatus,
    decision,
    decisionSummary: summarizeDecision(decision),
    decidedAt: needsPerson ? null : now,
    decidedBy: needsPerson ? null : deciderOf(ruling, agent),
    comment: null,
    transactionId: null,
    paymentId: null,
    receiptStatus: null,
    paymentWaits: false,
    requesterId: needsPerson ? personBehind(request.actor) : null,
    approval: null,
    approvalDueAt: null,
    workflowId: needsPerson ? workflowIdOf(intentProcess, cause.id) : null,
  }
  const approval = needsPerson
    ? approvalProgressOf(intent, intent.amountCents, { steps: approvalStepsOf(agent), now })
    : undefined
  if (approval) setApproval(intent, approval, { approvers: state.approvers, now })
  return intent
}

type Declare =
  Create extends HotHandler<infer _I, infer R, infer F, infer E>
    ? HotHandler<DeclareIntentRequest['input'], R, F, E, DeclareIntentState>
    : never

/**
 * A busy agent declares thousands of intents a second, so this runs in group commits. Only an intent that
 * waits for a person has a process.
 */
export const declareIntent = {
  load: loadBatch,
  decide(request, state, { emit, refuse, wake }) {
    const spend = proposedSpend(request, state.payees)
    if (!spend.agentId) return refuse('agent_required')
    const agent = spendingAgentFor(request.actor, spend.agentId, state)
    if (!agent) return refuse('agent_not_found')
    if (agent.status !== 'active') return refuse('agent_not_active')
    const refusal = refusalOf(request, spend, state)
    if (refusal) return refuse(refusal[0], refusal[1])
    const { clientIntentId } = request.input.body
    const clientId = clientIntentId && clientIdKey(agent.id, clientIntentId)
    if (clientId && state.takenClientIds.has(clientId)) return refuse('client_intent_id_taken')
    if (clientId) state.takenClientIds.add(clientId)
    const intent = newIntent(request, spend, agent, state)
    state.declared.push(intent)
    const { mandateId: _, ...declared } = intentEvent(intent)
    emit('intent.created', { ...declared, status: 'created' })
    if (intent.status === 'created') wake(intentProcess, intent)
    if (intent.status === 'denied') emit('intent.denied', intentEvent(intent, intent.decision.reason))
    else if (intent.fingerprint) state.duplicates.set(intent.fingerprint, intent.id)
    if (intent.status === 'approved') emit('intent.approved', intentEvent(intent))
    const riskEvents = state.riskAssessor.applyOutcome(agent, { ...intent, type: 'intent' })
    for (const [event, data] of riskEvents) emit(event, data)
    return unpaidIntentResponse(intent, state.approvers)
  },
  async write({ declared, decisions, counters, funds, riskAssessor }, sql) {
    await Promise.all([
      insertIntents(sql, declared, decisions),
      counters.write(sql),
      riskAssessor.write(sql),
      funds.post(sql),
    ])
  },
} satisfies Declare
