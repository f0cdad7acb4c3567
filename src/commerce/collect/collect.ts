import type { z } from 'zod'
import { area, onlyWith, reactionToAll } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { type HandlerOf, implement } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { definedOnly, reaches } from '../../kernel/database/entity.ts'
import { IncomingEvent } from '../../money/incoming/index.ts'
import { newReference } from '../../money/references/index.ts'
import { Refund } from '../../money/refunds/index.ts'
import { transactionEvents } from '../../money/transactions/index.ts'
import { isPurse, WalletEvent, walletsById } from '../../money/wallets/index.ts'
import { after, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { collectApi, settleApi } from './api.ts'
import { paymentEvents, requestEvent, requestEvents } from './events.ts'
import {
  addPayment,
  type LockedRequest,
  lockRequest,
  lockRequests,
  paymentUnderWay,
  refusalOfNotOpen,
  waitOn,
  writeRequests,
} from './payments.ts'
import { collectProcess } from './process.ts'
import { refundsApi, requestRefundResponse } from './refunds/api.ts'
import { refundReactions } from './refunds/end-refund.ts'
import { followRefunds, refund } from './refunds/refund.ts'
import {
  collectPersonal,
  NEEDS_RUN,
  PaymentRequest,
  RequestPayment,
  requestMachine,
  requestPaymentMachine,
} from './request.ts'
import { findPayableRequests, openRequestsOf, requestResponse } from './request-rows.ts'
import { settle } from './settle.ts'
import { processStatusOf } from './status.ts'

/** Makes a request with a creditor reference of its own, by which the register leads a SEPA credit to it. */
const create: HandlerOf<typeof collectApi.create> = async ({ body }, context) => {
  const { records, sql, tenant, actor, now, emit, wake, refuse } = context
  const { walletId, expiresInHours, ...members } = body
  const wallet = (await walletsById(sql, tenant, [walletId])).get(walletId)
  const isReached = wallet && (!actor.agentId || actor.agentId === wallet.agentId)
  if (!isReached) return refuse('wallet_not_found')
  if (isPurse(wallet)) return refuse('wallet_of_card')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  const id = newId('request')
  const expiresAt = after(now, minutes(60 * expiresInHours))
  const request = records.create(PaymentRequest, {
    ...members,
    id,
    walletId,
    agentId: wallet.agentId,
    delegationId: actor.delegationId ?? null,
    reference: await newReference(context, { walletId, payable: { type: 'request', id } }),
    expiresAt,
    dueAt: expiresAt,
    workflowId: workflowIdOf(collectProcess, id),
  })
  emit('claim.request.created', requestEvent(request))
  wake(collectProcess, request)
  return requestResponse(request, context)
}

/** Ends an open request that nobody is paying just now. */
function cancelRequest(
  { request }: LockedRequest,
  comment: string | null,
  {
    now,
    emit,
    wake,
  }: Pick<Context<never, Pick<typeof requestEvents, 'claim.request.cancelled'>>, 'now' | 'emit' | 'wake'>,
): void {
  if (!requestMachine.move(request, 'cancelled')) return
  Object.assign(request, { comment, dueAt: null, updatedAt: now })
  emit('claim.request.cancelled', requestEvent(request))
  wake(collectProcess, request)
}

/** A request whose deadline has passed expires in place of being cancelled. */
const cancel: HandlerOf<typeof collectApi.cancel> = async ({ params, body }, context) => {
  const { sql, tenant, actor, sendAlong, refuse } = context
  const locked = await lockRequest(params.id, context)
  if (!locked || !reaches(actor, locked.request)) return refuse('request_not_found')
  const refusal = refusalOfNotOpen(locked, context)
  if (refusal) return refusal
  cancelRequest(locked, body.comment, context)
  sendAlong(writeRequests(sql, tenant, [locked]))
  return requestResponse(locked.request, context)
}

/** Ends what is overdue. A payment that is under way is waited for: its end lets the request expire. */
const expire: HandlerOf<typeof collectApi.expire> = async ({ params }, context) => {
  const { sql, tenant, now, refuse } = context
  const locked = await lockRequest(params.id, context)
  if (!locked) return refuse('request_not_found')
  if (locked.request.expiresAt <= now) waitOn(locked, context)
  await writeRequests(sql, tenant, [locked])
  return { done: true }
}

const paid = { ...paymentEvents, ...transactionEvents }

type Credit = z.output<typeof IncomingEvent>
type PaidCredit = Credit & { readonly walletId: string; readonly payableId: string }

/** Whether it is in a wallet, and names a request: what lies in suspense is reported again once it is assigned. */
const paysRequest = (credit: Credit): credit is PaidCredit =>
  credit.payableType === 'request' && credit.payableId !== null && credit.walletId !== null

/** Counts what has come in, in the transaction that has booked it. */
async function countCredits(events: readonly Credit[], context: Context<never, typeof paid>): Promise<void> {
  const credits = events.filter(paysRequest)
  const { sql, tenant, sendAlong } = context
  const locked = await lockRequests(
    sql,
    tenant,
    credits.map(({ payableId }) => payableId),
  )
  for (const { creditId, payableId, walletId, amountEuros, source } of credits) {
    const one = locked.get(payableId)
    const way = source === 'owner' ? 'wallet' : 'sepa'
    if (one) addPayment(one, { way, amountEuros, sourceId: creditId, walletId }, context)
  }
  sendAlong(writeRequests(sql, tenant, [...locked.values()]))
}

/** The money for a wallet that is closed for good could not come. */
async function cancelOfClosed(
  events: readonly z.output<typeof WalletEvent>[],
  context: Context<never, Pick<typeof requestEvents, 'claim.request.cancelled'>>,
): Promise<void> {
  const { sql, tenant, sendAlong } = context
  const ids = await openRequestsOf(
    sql,
    tenant,
    events.map(({ walletId }) => walletId),
  )
  const locked = [...(await lockRequests(sql, tenant, ids)).values()]
  for (const one of locked)
    if (!paymentUnderWay(one)) cancelRequest(one, 'The wallet has been closed.', context)
  sendAlong(writeRequests(sql, tenant, locked))
}

const collectReactions = {
  'incoming.received': onlyWith('payableId', reactionToAll(IncomingEvent, paid, countCredits)),
  'incoming.assigned': onlyWith('payableId', reactionToAll(IncomingEvent, paid, countCredits)),
  'wallet.closed': reactionToAll(
    WalletEvent,
    { 'claim.request.cancelled': requestEvents['claim.request.cancelled'] },
    cancelOfClosed,
  ),
}

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
