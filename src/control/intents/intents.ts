import type { FilterQuery } from '@mikro-orm/core'
import { RecordedApproval, unknownApprover } from '../../identity/approvals/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import { type RowSource, sqlCondition } from '../../kernel/contract/conditions.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import { bindHandlers, type ContextOf, type HandlerOf } from '../../kernel/contract/operation.ts'
import { answerTo } from '../../kernel/contract/question.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly, merchantCondition } from '../../kernel/database/entity.ts'
import { getRecordAs } from '../../kernel/database/get-record.ts'
import { pageOfSource } from '../../kernel/database/page-of-source.ts'
import { readCompleteFrom, readTimelineOfRecords, withAuditIds } from '../../kernel/journal/timeline.ts'
import { madeWithDelegation } from '../../money/transactions/index.ts'
import { formatMinute } from '../../values/minute.ts'
import { formatMoney } from '../../values/money.ts'
import { findPolicy } from '../policies/index.ts'
import { decideWithoutHistory, pickPolicyRules } from '../rules/index.ts'
import { intentSteps, intentsApi } from './api.ts'
import { Approval, ApprovalCommitmentOpenings } from './approval/approval.ts'
import { approvalApi } from './approval/approval-api.ts'
import { approvalHandlers } from './approval/approvals.ts'
import { approveIntent, personalDecision } from './approval/approve.ts'
import { approvalReactions, nextApprovalStep } from './approval/step-end.ts'
import { OPEN_INTENT_SQL, onDelegationsRevoked } from './cancel.ts'
import { declareIntent } from './declare.ts'
import { intentInquiries } from './inquiries.ts'
import { intentInquiryApi } from './inquiry-api.ts'
import { Intent, intentCause, intentMachine, lockIntent } from './intent.ts'
import { alreadyInStatusMessage, cancelIntentOperation } from './intent-batch.ts'
import { type ResolvedPayee, resolvePayees } from './payees.ts'
import { type IntentSignal, intentProcess } from './process.ts'
import {
  intentEvent,
  intentResponse,
  intentResponses,
  paymentsOfIntents,
  unpaidIntentResponse,
} from './response.ts'
import { intentsPersonalAdditions } from './retention.ts'
import { intentSimulationApi } from './simulation-api.ts'
import {
  approversOf,
  budgetLevelBlocker,
  budgetLevelIds,
  decideIntentSpend,
  loadSpendDecisionContext,
  spendingAgentFor,
} from './spend-context.ts'
import { SpendReads } from './spend-locks.ts'

type Simulate = HandlerOf<typeof intentSimulationApi.simulate>
type SimulateContext = ContextOf<typeof intentSimulationApi.simulate>
type Body = Parameters<Simulate>[0]['body']

async function simulateForAgent(agentId: string, payee: ResolvedPayee, body: Body, context: SimulateContext) {
  const { sql, tenant, actor, refuse } = context
  const { at, amountCents, mcc } = body
  const tenantNow = { tenant, now: at ?? context.now }
  const levels = budgetLevelIds(actor, context.runId, body)
  // In the console a person tries out what the agent may pay; what the person declares waits in any case.
  const approvers = actor.type === 'console' ? {} : approversOf(actor)
  const spend = { agentId, amountCents, mcc, ...payee, ...levels, ...approvers }
  const spendContext = await loadSpendDecisionContext(
    new SpendReads(sql, tenantNow),
    [spend],
    context.service,
  )
  const agent = spendingAgentFor(actor, agentId, spendContext)
  if (!agent) return refuse('agent_not_found')
  // A simulation for a frozen agent always answers that it is frozen, which is a decision here, not a
  // refusal.
  const blocker =
    agent.status === 'active' && budgetLevelBlocker(spend, spendContext, tenantNow.now, context.runId)
  if (blocker) return refuse(blocker)
  const { decision } = decideIntentSpend(spend, agent, spendContext, tenantNow, intentCause({ id: '' }))
  return { ...decision, id: null }
}

async function simulateRules(payee: ResolvedPayee, body: Body, context: SimulateContext) {
  const { em, now, refuse } = context
  const { policyId, policy: givenRules, at, amountCents, mcc } = body
  const unknown = givenRules && (await unknownApprover(givenRules.approval, context))
  if (unknown) return refuse('unknown_approver', `policy.${unknown}`)
  const policy = policyId ? await findPolicy(em, policyId) : null
  if (policyId && !policy) return refuse('policy_not_found')
  const rules = policy ? pickPolicyRules(policy) : (givenRules ?? null)
  const {
    holdCents: _,
    mandate = null,
    ...ruling
  } = decideWithoutHistory(rules, { amountCents, mcc, ...payee, at: at ?? now })
  return {
    ...ruling,
    mandate,
    id: null,
    riskScore: null,
    policyId: policy?.id ?? null,
    policyVersion: policy?.version ?? null,
  }
}

/** Decides by the same function as a declaration, but stores and reserves nothing. */
const simulate: Simulate = async ({ body }, context) => {
  const { sql, tenant, actor, refuse, service } = context
  const payees = await resolvePayees(sql, tenant, [body], service)
  const refusal = payees.refusalOf(body, body.amountCents)
  if (refusal) return refuse(...refusal)
  const contradiction = payees.contradiction(body)
  if (contradiction) return refuse('payee_mismatch', contradiction)
  const payee = payees.resolve(body)
  if (body.policyId || body.policy) return simulateRules(payee, body, context)
  const agentId = body.agentId ?? actor.agentId
  return agentId ? simulateForAgent(agentId, payee, body, context) : refuse('agent_required')
}

/** Temporal stores this summary of the run, so it contains no names. */
const summaryOf = ({ amountCents, mode, status, expiresAt }: Intent): string => {
  const until = expiresAt.toISOString().slice(0, 16).replace('T', ' ')
  const waits = status === 'created' ? `waits for approval until ${until} UTC` : status
  return `Intent of ${formatMoney(amountCents)} in ${mode} mode: ${waits}`
}

function signalsOf({ status, paymentId, approval }: Intent): IntentSignal[] {
  if (status === 'created') return approval ? ['deny', 'cancel'] : ['approve', 'deny', 'cancel']
  return paymentId ? [] : ['cancel']
}

/** What the run of an intent reads. */
export async function intentStatus(id: string, context: ReadContext) {
  const { em, now } = context
  const intent = await em.findOne(Intent, { id })
  if (!intent) return undefined
  const { status, paymentId, expiresAt } = intent
  const closed = intentMachine.isFinal(status)
  const isBeingPaid = paymentId !== null
  const step = await nextApprovalStep(intent, context)
  const isStepNext = step !== undefined && step.at < expiresAt
  const dueAt = isStepNext ? step.at : expiresAt
  return {
    status,
    summary: summaryOf(intent),
    closed,
    isBeingPaid,
    dueInMs: closed || isBeingPaid ? null : dueAt.getTime() - now.getTime(),
    deadline: formatMinute(expiresAt),
    ...(step && { approvals: step.inWords }),
    ...(isStepNext && { next: step.what }),
    signals: closed ? [] : signalsOf(intent),
  }
}

const find = (em: EntityReader, id: string): Promise<Intent | null> => em.findOne(Intent, { id })

/** Literal: PostgreSQL would not use the index over the other intents of an agent for a parameter. */
const byStatus = (status: Intent['status'] | undefined) =>
  status === undefined || status === 'completed' || status === 'approved'
    ? definedOnly({ status })
    : { status, ...sqlCondition("status <> 'completed' and status <> 'approved'") }

/** The approved intents of an agent are few, as each holds money: they are sorted, and have no index in the order of ids. */
const approvedOfAgent = ({ ownerId, mode }: Tenant, agentId: string): RowSource => ({
  sql: `select * from intents where owner_id = ? and mode = ? and agent_id = ? and status = 'approved' offset 0`,
  values: [ownerId, mode, agentId],
  orderBy: 'id desc',
})

const intents = bindHandlers(intentsApi, {
  create: declareIntent,
  approve: approveIntent,
  cancel: cancelIntentOperation,

  async list({ query: { from, to, merchant, status, limit: _limit, cursor: _cursor, ...filters } }, context) {
    const created = await createdWithinCondition('intent', { from, to }, context)
    const condition = {
      ...definedOnly({ ...filters, ...created }),
      ...merchantCondition(merchant),
      ...byStatus(status),
    } as FilterQuery<Intent>
    const agentId = filters.agentId ?? context.actor.agentId
    const page =
      status === 'approved' && agentId
        ? await pageOfSource(context, Intent, condition, () => approvedOfAgent(context.tenant, agentId))
        : await context.page(Intent, condition)
    return { ...page, data: await intentResponses(page.data, context) }
  },

  get: getRecordAs(Intent, 'intent_not_found', intentResponse),

  async deny({ params, body }, { em, actor, now, emit, refuse, wake }) {
    const intent = await lockIntent(em, params.id)
    if (!intent) return refuse('intent_not_found')
    if (intent.status !== 'created')
      return refuse('intent_not_waiting', alreadyInStatusMessage(intent.status))
    if (intent.expiresAt <= now) return refuse('intent_expired')
    intentMachine.move(intent, 'denied')
    Object.assign(intent, { decidedAt: now, decidedBy: personalDecision(actor), comment: body.reason })
    emit('intent.denied', intentEvent(intent, body.reason))
    wake(intentProcess, intent)
    return unpaidIntentResponse(intent)
  },

  async timeline({ params }, context) {
    const { em, sql, tenant, pageBy, refuse } = context
    const intent = await find(em, params.id)
    if (!intent) return refuse('intent_not_found')
    const [payments, completeFrom] = await Promise.all([
      paymentsOfIntents([intent], context),
      readCompleteFrom(sql, tenant),
    ])
    const ids = [intent.id, intent.transactionId ?? [], payments.map(({ id }) => id)].flat(2)
    const page = await pageBy((after, most) => readTimelineOfRecords(sql, tenant, ids, after, most))
    return withAuditIds({ ...page, completeFrom })
  },
})

const all = bindHandlers(
  { ...intentsApi, ...approvalApi, ...intentInquiryApi, ...intentSimulationApi },
  { ...intents.handlers, ...approvalHandlers.handlers, ...intentInquiries.handlers, simulate },
)

const madeWithDelegationSql = answerTo(
  madeWithDelegation,
  async () => `exists (select from intents i
  where (i.owner_id, i.mode, i.id) = (transactions.owner_id, transactions.mode, intent_id) and i.delegation_id = ?)`,
)

export const intentsArea = area(
  'Intents',
  'Spending that agents declare: decided, then paid, cancelled or expired.',
  all,
  {
    personalAdditions: intentsPersonalAdditions,
    steps: intentSteps,
    entities: [Intent, RecordedApproval, Approval, ApprovalCommitmentOpenings],
    machines: [intentMachine],
    reactions: { 'delegation.revoked': onDelegationsRevoked, ...approvalReactions },
    answers: [madeWithDelegationSql],
    openRecords: [
      {
        process: intentProcess,
        select: `select id, owner_id, mode, agent_id, amount_cents from intents where ${OPEN_INTENT_SQL} and workflow_id is not null`,
      },
    ],
    deadlines: [
      {
        process: intentProcess,
        table: 'intents',
        record: 'id',
        agent: 'agent_id',
        due: 'expires_at',
        open: `${OPEN_INTENT_SQL} and payment_id is null`,
        waits: 'workflow_id is not null',
        activities: ['expireIntent'],
      },
      {
        process: intentProcess,
        table: 'intents',
        record: 'id',
        agent: 'agent_id',
        due: 'approval_due_at',
        open: `status = 'created' and approval_due_at is not null`,
        waits: 'workflow_id is not null',
        activities: ['remindApprovers', 'endApprovalStep'],
      },
    ],
  },
)
