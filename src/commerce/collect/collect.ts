import type { z } from 'zod'
import { SpendLocks } from '../../control/intents/index.ts'
import { area, reactionToAll, whenMemberPresent } from '../../kernel/contract/area.ts'
import type { Context, EmitContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers, type ContextOf, type HandlerOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly, mayReachRecord } from '../../kernel/database/entity.ts'
import { getRecordAs } from '../../kernel/database/get-record.ts'
import { IncomingCreditEvent, matchCreditToPayable, simulateCredit } from '../../money/incoming/index.ts'
import { OWNER_TRANSFER_ACCOUNTS } from '../../money/ledger/index.ts'
import { registerReference } from '../../money/references/index.ts'
import { Refund } from '../../money/refunds/index.ts'
import { transactionEvents } from '../../money/transactions/index.ts'
import { isPurse, WalletEvent, walletsById } from '../../money/wallets/index.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import {
  addRequestPayment,
  amountDueCents,
  findPayableRequests,
  type LockedPaymentRequest,
  lockPaymentRequest,
  lockPaymentRequests,
  openRequestsOfWallets,
  PaymentRequest,
  paymentRequestEvent,
  paymentRequestEvents,
  paymentRequestMachine,
  paymentRequestResponse,
  REQUEST_NEEDS_RUN_SQL,
  RequestPayment,
  requestNotOpenRefusal,
  requestPaidEvents,
  requestPaymentMachine,
  writePaymentRequests,
} from '../payment-requests/index.ts'
import { collectProcess } from '../payment-requests/process.ts'
import {
  refundPaymentRequest,
  requestRefundReactions,
  requestRefundResponse,
  requestRefundSteps,
  requestRefundsApi,
} from '../refunds/index.ts'
import { collectApi, collectSteps } from './api.ts'

/** Gives each request its own creditor reference, by which a SEPA credit finds it. */
const create: HandlerOf<typeof collectApi.create> = async ({ body }, context) => {
  const { em, sql, tenant, actor, now, emit, wake, refuse } = context
  const { walletId, expiresInHours, ...members } = body
  const wallet = (await walletsById(sql, tenant, [walletId])).get(walletId)
  const isReached = wallet && (!actor.agentId || actor.agentId === wallet.agentId)
  if (!isReached) return refuse('wallet_not_found')
  if (isPurse(wallet)) return refuse('wallet_of_card')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  const id = newId('request')
  const expiresAt = addMs(now, minutes(60 * expiresInHours))
  const request = em.create(PaymentRequest, {
    ...members,
    id,
    walletId,
    agentId: wallet.agentId,
    delegationId: actor.delegationId ?? null,
    reference: await registerReference(context, { walletId, payable: { type: 'request', id } }),
    expiresAt,
    dueAt: expiresAt,
    workflowId: workflowIdOf(collectProcess, id),
  })
  emit('claim.request.created', paymentRequestEvent(request))
  wake(collectProcess, request)
  return paymentRequestResponse(request, context)
}

function cancelRequest(
  { request }: LockedPaymentRequest,
  comment: string | null,
  { now, emit, wake }: EmitContext<Pick<typeof paymentRequestEvents, 'claim.request.cancelled'>>,
): void {
  if (!paymentRequestMachine.move(request, 'cancelled')) return
  Object.assign(request, { comment, dueAt: null, updatedAt: now })
  emit('claim.request.cancelled', paymentRequestEvent(request))
  wake(collectProcess, request)
}

/** A request whose deadline has passed expires, and cannot be cancelled. */
const cancel: HandlerOf<typeof collectApi.cancel> = async ({ params, body }, context) => {
  const { sql, tenant, actor, queueStatement, refuse } = context
  const locked = await lockPaymentRequest(params.id, context)
  if (!locked || !mayReachRecord(actor, locked.request)) return refuse('request_not_found')
  const refusal = requestNotOpenRefusal(locked, context)
  if (refusal) return refusal
  cancelRequest(locked, body.comment, context)
  queueStatement(writePaymentRequests(sql, tenant, [locked]))
  return paymentRequestResponse(locked.request, context)
}

type Settling = ContextOf<typeof collectApi.settle>

const SANDBOX_PAYER = { senderName: 'Sandbox Payer', senderIban: 'DE02120300000000202051' }

/**
 * Settles a request by a credit that came without its reference. In test mode, the sandbox bank pays if no
 * credit is named.
 */
const settle: HandlerOf<typeof collectApi.settle> = async ({ params, body }, context) => {
  const { em, tenant, refuse } = context
  const request = await em.findOne(PaymentRequest, { id: params.id })
  if (!request) return refuse('request_not_found')
  if (body.creditId !== undefined) return settleByCredit(request.id, body.creditId, context)
  return tenant.mode === 'test' ? paySandbox(request, context) : refuse('credit_required')
}

async function settleByCredit(id: string, creditId: string, context: Settling) {
  const { sql, tenant, queueStatement, refuse } = context
  const locked = await lockKnownRequest(id, context)
  const refusal = requestNotOpenRefusal(locked, context)
  if (refusal) return refusal
  const { request } = locked
  const payable = { type: 'request', id } as const
  const credit = await matchCreditToPayable(creditId, { walletId: request.walletId, payable }, context)
  if (typeof credit === 'string') return refuse(credit)
  addRequestPayment(locked, { way: 'sepa', amountCents: credit.amountCents, sourceId: credit.id }, context)
  queueStatement(writePaymentRequests(sql, tenant, [locked]))
  return paymentRequestResponse(request, context)
}

/** Books the due amount like any incoming credit, and the reaction to that credit pays the request. */
async function paySandbox({ id, walletId }: PaymentRequest, context: Settling) {
  const { sql, tenant } = context
  const [, wallets, locked] = await Promise.all([
    new SpendLocks(sql, context).take({ wallets: [walletId], ...OWNER_TRANSFER_ACCOUNTS }),
    walletsById(sql, tenant, [walletId]),
    lockKnownRequest(id, context),
  ])
  const refusal = requestNotOpenRefusal(locked, context)
  if (refusal) return refusal
  const { request } = locked
  const iban = wallets.get(walletId)?.iban ?? null
  const sent = { ...SANDBOX_PAYER, iban, reference: request.reference, endToEndId: null }
  await simulateCredit({ ...sent, amountCents: amountDueCents(request) }, context)
  await context.runReactions()
  return paymentRequestResponse((await lockKnownRequest(id, context)).request, context)
}

async function lockKnownRequest(id: string, context: Settling): Promise<LockedPaymentRequest> {
  const locked = await lockPaymentRequest(id, context)
  if (!locked) throw new Error(`${id}: a request that has gone`)
  return locked
}

const paid = { ...requestPaidEvents, ...transactionEvents }

type Credit = z.output<typeof IncomingCreditEvent>
type PaidCredit = Credit & { readonly walletId: string; readonly payableId: string }

const paysRequest = (credit: Credit): credit is PaidCredit =>
  credit.payableType === 'request' && credit.payableId !== null && credit.walletId !== null

async function countCredits(events: readonly Credit[], context: Context<never, typeof paid>): Promise<void> {
  const credits = events.filter(paysRequest)
  const { sql, tenant, queueStatement } = context
  const locked = await lockPaymentRequests(
    sql,
    tenant,
    credits.map(({ payableId }) => payableId),
  )
  for (const { creditId, payableId, walletId, amountCents, source } of credits) {
    const one = locked.get(payableId)
    const way = source === 'owner' ? 'wallet' : 'sepa'
    if (one) addRequestPayment(one, { way, amountCents, sourceId: creditId, walletId }, context)
  }
  queueStatement(writePaymentRequests(sql, tenant, [...locked.values()]))
}

async function cancelOfClosed(
  events: readonly z.output<typeof WalletEvent>[],
  context: Context<never, Pick<typeof paymentRequestEvents, 'claim.request.cancelled'>>,
): Promise<void> {
  const { sql, tenant, queueStatement } = context
  const ids = await openRequestsOfWallets(
    sql,
    tenant,
    events.map(({ walletId }) => walletId),
  )
  const locked = [...(await lockPaymentRequests(sql, tenant, ids)).values()]
  for (const one of locked)
    if (!one.pendingPayment) cancelRequest(one, 'The wallet has been closed.', context)
  queueStatement(writePaymentRequests(sql, tenant, locked))
}

const collectReactions = {
  'incoming.received': whenMemberPresent('payableId', reactionToAll(IncomingCreditEvent, paid, countCredits)),
  'incoming.assigned': whenMemberPresent('payableId', reactionToAll(IncomingCreditEvent, paid, countCredits)),
  'wallet.closed': reactionToAll(
    WalletEvent,
    { 'claim.request.cancelled': paymentRequestEvents['claim.request.cancelled'] },
    cancelOfClosed,
  ),
}

const collect = bindHandlers(
  { ...collectApi, ...requestRefundsApi },
  {
    create,
    settle,
    refund: refundPaymentRequest,
    cancel,

    async list({ query: { from, to, cursor: _cursor, limit: _limit, ...filters } }, context) {
      const created = await createdWithinCondition('request', { from, to }, context)
      const page = await context.page(PaymentRequest, definedOnly({ ...filters, ...created }))
      return { ...page, data: page.data.map(request => paymentRequestResponse(request, context)) }
    },

    get: getRecordAs(PaymentRequest, 'request_not_found', paymentRequestResponse),

    async payments({ params }, { em, page, refuse }) {
      const request = await em.findOne(PaymentRequest, { id: params.id })
      return request ? page(RequestPayment, { requestId: request.id }) : refuse('request_not_found')
    },

    async refunds({ params }, { em, page, refuse }) {
      const request = await em.findOne(PaymentRequest, { id: params.id })
      if (!request) return refuse('request_not_found')
      const refunds = await page(Refund, { requestId: request.id })
      return { ...refunds, data: refunds.data.map(requestRefundResponse) }
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
  activities: ['expirePaymentRequest'],
}

/** Refunds by card, about which the acquirer is asked until they have arrived. */
const refundsDue: Deadline = {
  process: collectProcess,
  table: 'refunds',
  record: 'request_id',
  agent: 'agent_id',
  due: 'ask_due_at',
  open: "status = 'pending' and request_id is not null",
  waits: 'ask_due_at is not null',
  activities: ['followRefunds'],
}

export const collectArea = area(
  'Claim / Collect',
  'Requesting payments: by SEPA, by machine payments, and from other wallets here.',
  collect,
  {
    aliases: { collect: 'claim' },
    steps: { ...collectSteps, ...requestRefundSteps },
    entities: [PaymentRequest, RequestPayment],
    machines: [paymentRequestMachine, requestPaymentMachine],
    reactions: { ...collectReactions, ...requestRefundReactions },
    findPayables: findPayableRequests,
    deadlines: [expiry, refundsDue],
    openRecords: [
      {
        process: collectProcess,
        select: `select id, owner_id, mode, agent_id, amount_cents from payment_requests where ${REQUEST_NEEDS_RUN_SQL}`,
      },
    ],
  },
)
