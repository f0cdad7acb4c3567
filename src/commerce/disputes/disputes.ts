import { z } from 'zod'
import { CardAuthorization } from '../../cards/authorizations/index.ts'
import { area, type Reaction, reactionToAll } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { type HandlerOf, implement } from '../../kernel/contract/operation.ts'
import type { Records } from '../../kernel/contract/records.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { readCompleteFrom, timelineOfRecords, withAuditIds } from '../../kernel/journal/timeline.ts'
import { refundsOf } from '../../money/refunds/index.ts'
import { Transaction } from '../../money/transactions/index.ts'
import { id } from '../../values/ids.ts'
import { disputesApi } from './api.ts'
import { bundle } from './bundle.ts'
import { callStep, notice, submit } from './call-processor.ts'
import { addEvidence, find, followDeadlines, update, withdraw } from './change.ts'
import { create } from './create.ts'
import { Dispute, disputesPersonal, NEEDS_RUN } from './dispute.ts'
import { disputeEvents } from './events.ts'
import { disputeProcess } from './process.ts'
import { lockDispute, reconcile } from './reconcile-dispute.ts'
import { disputeMachine } from './state.ts'
import { processStatus } from './status.ts'
import { stepsApi } from './steps-api.ts'

const timeline: HandlerOf<typeof disputesApi.timeline> = async ({ params }, context) => {
  const { sql, tenant, records, pageBy, refuse } = context
  const dispute = await records.findOne(Dispute, { id: params.id })
  if (!dispute) return refuse('dispute_not_found')
  const [ids, completeFrom] = await Promise.all([recordsOf(dispute, records), readCompleteFrom(sql, tenant)])
  const page = await pageBy((after, most) => timelineOfRecords(sql, tenant, ids, after, most))
  return withAuditIds({ ...page, completeFrom })
}

async function recordsOf({ id, transactionId }: Dispute, records: Records): Promise<string[]> {
  const [transaction, payment, refunds] = await Promise.all([
    records.findOne(Transaction, { id: transactionId }),
    records.findOne(CardAuthorization, { transactionId }),
    refundsOf(transactionId, records),
  ])
  const ids = [id, transactionId, transaction?.intentId, payment?.id].flatMap(one => one ?? [])
  return [...ids, ...refunds.map(refund => refund.id)]
}

const Refunded = z.object({ transactionId: id('txn') })

const { 'dispute.created': _, ...laterEvents } = disputeEvents

/** What the merchant refunds makes the disputes of the payment smaller, and what was given back for them. */
const follow: Reaction = {
  ...reactionToAll(Refunded, laterEvents, async (events, context) => {
    const transactionIds = [...new Set(events.map(({ transactionId }) => transactionId))]
    const disputes = await context.records.find(
      Dispute,
      { transactionId: { $in: transactionIds } },
      { orderBy: { id: 'asc' } },
    )
    for (const dispute of disputes) {
      const locked = await lockDispute(dispute.id, context)
      if (locked) reconcile(locked, context)
    }
  }),
  // Only payments by card are disputed; many others are given back in one transaction.
  concerns: ({ type }) => type !== 'transfer' && type !== 'collect',
}

const disputeReactions: Readonly<Record<string, Reaction>> = {
  'transaction.refunded': follow,
}

const disputes = implement(
  { ...disputesApi, ...stepsApi },
  {
    create,
    update,
    addEvidence,
    submit,
    withdraw,
    find,
    timeline,
    bundle,
    processStatus,
    followDeadlines,
    callProcessor: callStep,
    notice,

    async list({ query: { from, to, limit: _limit, cursor: _cursor, ...filters } }, context) {
      const created = await createdWithin('dispute', { from, to }, context)
      return context.page(Dispute, definedOnly({ ...filters, ...created }))
    },

    async get({ params }, { records, refuse }) {
      return (await records.findOne(Dispute, { id: params.id })) ?? refuse('dispute_not_found')
    },
  },
)

const deadline: Deadline = {
  process: disputeProcess,
  table: 'disputes',
  record: 'id',
  agent: 'agent_id',
  due: 'due_at',
  open: NEEDS_RUN,
  waits: 'true',
  operations: ['disputes.followDeadlines', 'disputes.callProcessor'],
}

export const disputesArea = area(
  'Disputes',
  'Payments by card that the owner does not accept: evidence, the card network, its decision, and the money meanwhile.',
  disputes,
  {
    personal: disputesPersonal,
    entities: [Dispute],
    machines: [disputeMachine],
    reactions: disputeReactions,
    deadlines: [deadline],
    openRecords: [
      {
        process: disputeProcess,
        select: `select id, owner_id, mode, agent_id, amount_cents from disputes where ${NEEDS_RUN}`,
      },
    ],
  },
)
