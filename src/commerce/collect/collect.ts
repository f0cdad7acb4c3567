import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { Refund } from '../../money/refunds/index.ts'
import { collectApi } from './api.ts'
import { create } from './create.ts'
import { cancel, expire } from './end.ts'
import { findPayableRequests } from './payables.ts'
import { collectPersonal } from './personal.ts'
import { collectProcess } from './process.ts'
import { collectReactions } from './reactions.ts'
import { refundsApi } from './refunds/api.ts'
import { followRefunds } from './refunds/card-refunds.ts'
import { refundReactions } from './refunds/end-refund.ts'
import { refund } from './refunds/refund.ts'
import { requestRefundResponse } from './refunds/request-refund.ts'
import { NEEDS_RUN, PaymentRequest, requestMachine } from './request.ts'
import { RequestPayment, requestPaymentMachine } from './request-payment.ts'
import { requestResponse } from './response.ts'
import { settle } from './settle.ts'
import { settleApi } from './settle-api.ts'
import { processStatusOf } from './status.ts'

const collect = implement(
  { ...collectApi, ...settleApi, ...refundsApi },
  {
    create,
    settle,
    refund,
    followRefunds,
    cancel,
    expire,

    async list({ query: { from, to, cursor: _cursor, limit: _limit, ...filters } }, context) {
      const created = await createdWithin('request', { from, to }, context)
      const page = await context.page(PaymentRequest, definedOnly({ ...filters, ...created }))
      return { ...page, data: page.data.map(request => requestResponse(request, context)) }
    },

    async get({ params }, context) {
      const request = await context.records.findOne(PaymentRequest, { id: params.id })
      return request ? requestResponse(request, context) : context.refuse('request_not_found')
    },

    async payments({ params }, { records, page, refuse }) {
      const request = await records.findOne(PaymentRequest, { id: params.id })
      return request ? page(RequestPayment, { requestId: request.id }) : refuse('request_not_found')
    },

    async refunds({ params }, { records, page, refuse }) {
      const request = await records.findOne(PaymentRequest, { id: params.id })
      if (!request) return refuse('request_not_found')
      const refunds = await page(Refund, { requestId: request.id })
      return { ...refunds, data: refunds.data.map(requestRefundResponse) }
    },

    async status({ params }, { records, now, refuse }) {
      const [request, underWay, waiting] = await Promise.all([
        records.findOne(PaymentRequest, { id: params.id }),
        records.findOne(RequestPayment, { requestId: params.id, status: 'under_way' }),
        records.find(
          Refund,
          { requestId: params.id, status: 'pending', askDueAt: { $ne: null } },
          { orderBy: { askDueAt: 'asc' }, limit: 1 },
        ),
      ])
      if (!request) return refuse('request_not_found')
      const refundDueAt = waiting[0]?.askDueAt ?? null
      return processStatusOf({ request, isUnderWay: underWay !== null, refundDueAt }, now)
    },
  },
)

const expiry: Deadline = {
  process: collectProcess,
  table: 'payment_requests',
  record: 'id',
  agent: 'agent_id',
  due: 'due_at',
  open: "status = 'open'",
  waits: 'true',
  operations: ['collect.expire'],
}

const refundsDue: Deadline = {
  process: collectProcess,
  table: 'refunds',
  record: 'request_id',
  agent: 'agent_id',
  due: 'ask_due_at',
  open: "status = 'pending' and request_id is not null",
  waits: 'true',
  operations: ['collect.followRefunds'],
}

export const collectArea = area(
  'Claim / Collect',
  'Asking for money and being paid: by SEPA, by machine payments, and from other wallets here.',
  collect,
  {
    aliases: { collect: 'claim' },
    personal: collectPersonal,
    entities: [PaymentRequest, RequestPayment],
    machines: [requestMachine, requestPaymentMachine],
    reactions: { ...collectReactions, ...refundReactions },
    findPayables: findPayableRequests,
    deadlines: [expiry, refundsDue],
    openRecords: [
      {
        process: collectProcess,
        select: `select id, owner_id, mode, agent_id, amount_cents from payment_requests where ${NEEDS_RUN}`,
      },
    ],
  },
)
