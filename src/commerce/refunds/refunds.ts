import { area, type Reaction, reactionToAll } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { arrivedEvents, Refund, refundMachine } from '../../money/refunds/index.ts'
import type { Personal } from '../../values/personal.ts'
import { refundResponse, refundsApi } from './api.ts'
import { askMerchant } from './ask-merchant.ts'
import { create } from './create.ts'
import { cancel, expire } from './end.ts'
import { refundProcess } from './process.ts'
import { processStatusOf } from './status.ts'

const refunds = implement(refundsApi, {
  create,
  askMerchant,
  cancel,
  expire,

  async list({ query: { from, to, cursor: _cursor, limit: _limit, ...filters } }, context) {
    const created = await createdWithin('refund', { from, to }, context)
    const page = await context.page(Refund, definedOnly({ ...filters, ...created }))
    return { ...page, data: page.data.map(refundResponse) }
  },

  async get({ params }, { records, refuse }) {
    const refund = await records.findOne(Refund, { id: params.id })
    return refund ? refundResponse(refund) : refuse('refund_not_found')
  },

  async status({ params }, { records, now, refuse }) {
    const refund = await records.findOne(Refund, { id: params.id })
    return refund ? processStatusOf(refund, now) : refuse('refund_not_found')
  },
})

const completed = arrivedEvents['refund.completed']

/** The process of a refund ends with the money, which the cards book. */
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
  waits: 'true',
  operations: ['refunds.expire'],
}

/** A processor that has not answered is asked again. The run that waits for the money is woken by the other deadline. */
const askDue: Deadline = {
  ...deadline,
  due: 'ask_due_at',
  open: "status = 'pending' and request_id is null",
  waits: 'false',
  operations: ['refunds.askMerchant'],
}

const refundsPersonal = {
  refunds: {
    personal: {
      note: { kind: 'words', ground: 'vouchers', forget: 'word' },
      failure: {
        kind: 'words',
        ground: 'vouchers',
        forget: { value: '{"code":"forgotten","message":"[forgotten]"}' },
      },
    },
    plain: ['origin', 'way', 'reason', 'source_type', 'source_id', 'payment_id', 'transfer_id'],
    keptWhile: {
      where: "t.status not in ('cancelled', 'failed') or t.arrived_cents > 0 or t.completed_at is not null",
      words: 'money has come back, or can still',
    },
    about: { payer: ['request_id'] },
  },
} as const satisfies Personal

export const refundsArea = area('Refunds', 'Money of payments that comes back, or goes back.', refunds, {
  personal: refundsPersonal,
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
