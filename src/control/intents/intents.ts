import { area } from '../../kernel/contract/area.ts'
import { type ContextOf, type HandlerOf, implement } from '../../kernel/contract/operation.ts'
import { type Records, sqlCondition } from '../../kernel/contract/records.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { byMerchant, definedOnly } from '../../kernel/database/entity.ts'
import { readCompleteFrom, timelineOfRecords, withAuditIds } from '../../kernel/journal/timeline.ts'
import { minuteInWords } from '../../values/clock.ts'
import { formatMoney } from '../../values/money.ts'
import { findAgent } from '../agents/index.ts'
import { agentProcess } from '../agents/process.ts'
import { findPolicy } from '../policies/index.ts'
import { decideIsolated, rulesOf } from '../rules/index.ts'
import { intentsApi } from './api.ts'
import { Approval, ApprovalOpenings } from './approval/approval.ts'
import { approvalApi } from './approval/approval-api.ts'
import { approvals } from './approval/approvals.ts'
import { approve, deciderOf } from './approval/approve.ts'
import { cancelIntent, OPEN, onDelegationsRevoked } from './cancel.ts'
import { declare } from './declare.ts'
import { inquiries } from './inquiries.ts'
import { inquiryApi } from './inquiry-api.ts'
import { causeOf, Intent, intentMachine, intentsPersonal } from './intent.ts'
import { alreadyMessage, cancel, expire } from './intent-batch.ts'
import { openPayees, type Payee } from './payees.ts'
import { type IntentSignal, intentProcess } from './process.ts'
import { intentEvent, intentResponse, intentResponses, paymentsOf, unpaidResponse } from './response.ts'
import { simulationApi } from './simulation-api.ts'
import { blockerOf, decideIntent, levelIdsOf, readSpendContext, spenderFor } from './spend-context.ts'

type Simulate = HandlerOf<typeof simulationApi.simulate>
type SimulateContext = ContextOf<typeof simulationApi.simulate>
type Body = Parameters<Simulate>[0]['body']

async function simulateForAgent(agentId: string, payee: Payee, body: Body, context: SimulateContext) {
  const { sql, tenant, actor, refuse } = context
  const { at, amountCents, mcc } = body
  const tenantNow = { tenant, now: at ?? context.now }
  const spend = { agentId, amountCents, mcc, ...payee, ...levelIdsOf(actor, context.runId, body) }
  const spendContext = await readSpendContext(sql, tenantNow, [spend])
  const agent = spenderFor(actor, agentId, spendContext)
  if (!agent) return refuse('agent_not_found')
  // A simulation for a frozen agent always answers that it is frozen, which is a decision here, not a
  // refusal.
  const blocker = agent.status === 'active' && blockerOf(spend, spendContext, tenantNow.now, context.runId)
  if (blocker) return refuse(blocker)
  const { decision } = decideIntent(spend, agent, spendContext, tenantNow, causeOf({ id: '' }))
  return { ...decision, id: null }
}

async function simulateRules(payee: Payee, body: Body, { records, now, refuse }: SimulateContext) {
  const { policyId, policy: givenRules, at, amountCents, mcc } = body
  const policy = policyId ? await findPolicy(records, policyId) : null
  if (policyId && !policy) return refuse('policy_not_found')
  const rules = policy ? rulesOf(policy) : (givenRules ?? null)
  const {
    holdCents: _,
    mandate = null,
    ...ruling
  } = decideIsolated(rules, { amountCents, mcc, ...payee, at: at ?? now })
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
  const { sql, tenant, actor, refuse, ports } = context
  const payees = await openPayees(sql, tenant, [body], ports)
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

function waitsFor({ status, paymentId, expiresAt }: Intent): string {
  if (paymentId) return 'for the end of its payment'
  const deadline = `until ${minuteInWords(expiresAt)}`
  return status === 'created' ? `for a person’s approval, ${deadline}` : `for its payment, ${deadline}`
}

function signalsOf({ status, paymentId }: Intent): IntentSignal[] {
  if (status === 'created') return ['approve', 'deny', 'cancel']
  return paymentId ? [] : ['cancel']
}

function processStatusOf(intent: Intent, now: Date) {
  const closed = intentMachine.isFinal(intent.status)
  return {
    status: intent.status,
    summary: summaryOf(intent),
    closed,
    dueInMs: closed || intent.paymentId ? null : intent.expiresAt.getTime() - now.getTime(),
    waitsFor: closed ? null : waitsFor(intent),
    signals: closed ? [] : signalsOf(intent),
  }
}

const find = (records: Records, id: string): Promise<Intent | null> => records.findOne(Intent, { id })

/** The condition is literal: PostgreSQL would not use the index over all but completed intents for a parameter. */
const byStatus = (status: Intent['status'] | undefined): object =>
  status === undefined || status === 'completed'
    ? definedOnly({ status })
    : { status, ...sqlCondition("status <> 'completed'") }

const CANCEL_BATCH = 500

const intents = implement(intentsApi, {
  create: declare,
  approve,
  cancel,
  expire,

  async list({ query: { from, to, merchant, status, limit: _limit, cursor: _cursor, ...filters } }, context) {
    const created = await createdWithin('intent', { from, to }, context)
    const page = await context.page(Intent, {
      ...definedOnly({ ...filters, ...created }),
      ...byMerchant(merchant),
      ...byStatus(status),
    })
    return { ...page, data: await intentResponses(page.data, context) }
  },

  async get({ params }, context) {
    const intent = await find(context.records, params.id)
    return intent ? intentResponse(intent, context) : context.refuse('intent_not_found')
  },

  async deny({ params, body }, { records, actor, now, emit, refuse, wake }) {
    const intent = await records.lock(Intent, params.id)
    if (!intent) return refuse('intent_not_found')
    if (intent.status !== 'created') return refuse('intent_not_waiting', alreadyMessage(intent.status))
    if (intent.expiresAt <= now) return refuse('intent_expired')
    intentMachine.move(intent, 'denied')
    Object.assign(intent, { decidedAt: now, decidedBy: deciderOf(actor), comment: body.reason })
    emit('intent.denied', intentEvent(intent, body.reason))
    wake(intentProcess, intent)
    return unpaidResponse(intent)
  },

  async endForAgent({ params }, context) {
    const { records, wake } = context
    const agent = await findAgent(records, params.id)
    if (agent?.status !== 'deleting') return { done: true }
    const open = await records.find(
      Intent,
      { agentId: agent.id, ...sqlCondition(OPEN) },
      { orderBy: { id: 'asc' }, limit: CANCEL_BATCH, lock: true },
    )
    for (const intent of open) cancelIntent(intent, 'The agent is being deleted.', context)
    const done = open.length < CANCEL_BATCH
    if (!done) wake(agentProcess, { id: agent.id, agentId: agent.id })
    return { done }
  },

  async timeline({ params }, context) {
    const { records, sql, tenant, pageBy, refuse } = context
    const intent = await find(records, params.id)
    if (!intent) return refuse('intent_not_found')
    const [payments, completeFrom] = await Promise.all([
      paymentsOf([intent], context),
      readCompleteFrom(sql, tenant),
    ])
    const ids = [intent.id, intent.transactionId ?? [], payments.map(({ id }) => id)].flat(2)
    const page = await pageBy((after, most) => timelineOfRecords(sql, tenant, ids, after, most))
    return withAuditIds({ ...page, completeFrom })
  },

  async status({ params }, { records, now, refuse }) {
    const intent = await find(records, params.id)
    if (!intent) return refuse('intent_not_found')
    return processStatusOf(intent, now)
  },
})

const all = implement(
  { ...intentsApi, ...approvalApi, ...inquiryApi, ...simulationApi },
  { ...intents.handlers, ...approvals.handlers, ...inquiries.handlers, simulate },
)

export const intentsArea = area(
  'Intents',
  'Spending that agents declare: decided, then paid, cancelled or expired.',
  all,
  {
    personal: intentsPersonal,
    entities: [Intent, Approval, ApprovalOpenings],
    machines: [intentMachine],
    reactions: { 'delegation.revoked': onDelegationsRevoked },
    openRecords: [
      {
        process: intentProcess,
        select: `select id, owner_id, mode, agent_id, amount_cents from intents where ${OPEN} and workflow_id is not null`,
      },
    ],
    deadlines: [
      {
        process: intentProcess,
        table: 'intents',
        record: 'id',
        agent: 'agent_id',
        due: 'expires_at',
        open: `${OPEN} and payment_id is null`,
        waits: 'workflow_id is not null',
        operations: ['intents.expire'],
      },
    ],
  },
)
