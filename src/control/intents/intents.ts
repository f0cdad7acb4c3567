import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { type Records, sqlCondition } from '../../kernel/contract/records.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { byMerchant, definedOnly } from '../../kernel/database/entity.ts'
import { withAuditIds } from '../../kernel/journal/audit-id.ts'
import { readCompleteFrom } from '../../kernel/journal/complete-from.ts'
import { timelineOfRecords } from '../../kernel/journal/timeline.ts'
import { findAgent } from '../agents/index.ts'
import { agentProcess } from '../agents/process.ts'
import { intentsApi } from './api.ts'
import { Approval, ApprovalOpenings } from './approval/approval.ts'
import { approvalApi } from './approval/approval-api.ts'
import { approvals } from './approval/approvals.ts'
import { approve } from './approval/approve.ts'
import { deciderOf } from './approval/decider.ts'
import { cancelIntent, OPEN, onDelegationsRevoked } from './cancel.ts'
import { declare } from './declare.ts'
import { intentEvent } from './events.ts'
import { inquiries } from './inquiries.ts'
import { inquiryApi } from './inquiry-api.ts'
import { Intent, intentMachine } from './intent.ts'
import { intentsPersonal } from './personal.ts'
import { intentProcess } from './process.ts'
import { intentResponse, intentResponses, paymentsOf, unpaidResponse } from './response.ts'
import { alreadyMessage, cancel, expire } from './settle.ts'
import { simulate } from './simulate.ts'
import { simulationApi } from './simulation-api.ts'
import { processStatusOf } from './status.ts'

const find = (records: Records, id: string): Promise<Intent | null> => records.findOne(Intent, { id })

/** An open status says so in words: behind a parameter PostgreSQL would not see that the index over open intents has it. */
const byStatus = (status: Intent['status'] | undefined): object =>
  status === 'created' || status === 'approved' ? { status, ...sqlCondition(OPEN) } : definedOnly({ status })

/** How many intents of an agent are cancelled in one transaction. */
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
  'What agents want to spend: declared, decided, then paid, cancelled or expired.',
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
