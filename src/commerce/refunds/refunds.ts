import { CARD_REFUND_SOURCE, CardAuthorization } from '../../cards/authorizations/index.ts'
import { area, type Reaction, reactionToAll } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { Refund, refundArrivedEvents, refundMachine } from '../../money/refunds/index.ts'
import { refundResponse, refundSteps, refundsApi } from './api.ts'
import { lockRefunds } from './locked-refunds.ts'
import { createRefund } from './payment-refund.ts'
import { refundProcess } from './process.ts'

const cancel: HandlerOf<typeof refundsApi.cancel> = async ({ params }, context) => {
  const { sql, emit, wake, refuse, queueStatement } = context
  const { refunds } = await lockRefunds({ ids: [params.id] }, context)
  const row = refunds.find(params.id)
  if (!row) return refuse('refund_not_found')
  if (row.status !== 'pending') return refuse('refund_not_pending', `The refund is already ${row.status}.`)
  if (row.workflowId === null) return refuse('refund_under_way')
  refunds.cancel(row, emit)
  wake(refundProcess, row)
  queueStatement(refunds.write(sql))
  return refundResponse(row)
}

/** What a card network sent back in another currency is among the facts of its payment. */
async function withOriginals(rows: readonly Refund[], { em }: ReadContext) {
  const ids = rows.flatMap(({ sourceType, sourceId }) =>
    sourceType === CARD_REFUND_SOURCE && sourceId !== null ? sourceId : [],
  )
  const payments = ids.length === 0 ? [] : await em.find(CardAuthorization, { id: { $in: ids } })
  const refundsOf = new Map(payments.map(({ id, facts }) => [id, facts.refunds]))
  return rows.map(row => {
    const fact = refundsOf.get(row.sourceId ?? '')?.find(({ amount }) => amount === String(row.arrivedCents))
    return refundResponse(row, fact?.original)
  })
}

const refunds = bindHandlers(refundsApi, {
  create: createRefund,
  cancel,

  async list({ query: { from, to, cursor: _cursor, limit: _limit, ...filters } }, context) {
    const created = await createdWithinCondition('refund', { from, to }, context)
    const page = await context.page(Refund, definedOnly({ ...filters, ...created }))
    return { ...page, data: await withOriginals(page.data, context) }
  },

  async get({ params }, context) {
    const refund = await context.em.findOne(Refund, { id: params.id })
    if (!refund) return context.refuse('refund_not_found')
    const [response] = await withOriginals([refund], context)
    return response ?? context.refuse('refund_not_found')
  },
})

const completed = refundArrivedEvents['refund.completed']

/** Ends the process when the money arrives, which the cards area books. */
const endProcess: Reaction = {
  ...reactionToAll(completed, {}, async (events, { wake }) => {
    for (const { refundId: id, agentId } of events) wake(refundProcess, { id, agentId })
  }),
  concerns: ({ origin, way }) => origin === 'asked' && way === 'card',
}

const deadline: Deadline = {
  process: refundProcess,
  table: 'refunds',
  record: 'id',
  agent: 'agent_id',
  due: 'due_at',
  open: "status = 'pending'",
  waits: 'workflow_id is not null',
  activities: ['giveUpRefund'],
}

/** Repeats the request that a processor did not answer. The run of a payment request asks for its own refunds. */
const askDue: Deadline = {
  ...deadline,
  due: 'ask_due_at',
  open: "status = 'pending' and request_id is null",
  activities: ['askMerchantForRefund'],
}

export const refundsArea = area('Refunds', 'Refunds of payments, received and made.', refunds, {
  steps: refundSteps,
  entities: [Refund],
  machines: [refundMachine],
  reactions: { 'refund.completed': endProcess },
  deadlines: [askDue, deadline],
  openRecords: [
    {
      process: refundProcess,
      select: `select id, owner_id, mode, agent_id, amount_cents from refunds
        where (status = 'pending' and workflow_id is not null)`,
    },
  ],
})
