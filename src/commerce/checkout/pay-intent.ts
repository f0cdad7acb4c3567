import {
  type CardBatch,
  checkoutConfirmationBlocker,
  confirmCheckoutPayment,
  loadCheckoutConfirmations,
  writeCardBatch,
} from '../../cards/authorizations/index.ts'
import { findPayeeRequests, intentPaymentProblem, payeeRequestRefusal } from '../../control/intents/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { isNonEmpty } from '../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { PayableRecord } from '../../kernel/contract/payables.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { mayReachRecord, mayUseRecord } from '../../kernel/database/entity.ts'
import type { Cents } from '../../values/money.ts'
import {
  decideTransfers,
  intentTransferRefusal,
  type TransferBatch,
  type TransferRequest,
} from '../transfers/index.ts'
import type { checkoutApi } from './api.ts'

/**
 * Runs in group commits. The first witness of a payment creates its transaction, and the other payments are
 * linked to it.
 */
export const confirmCheckout: HandlerOf<typeof checkoutApi.confirm> = {
  load: (items, sql) =>
    loadCheckoutConfirmations(
      sql,
      items[0],
      items.map(({ input }) => input.body.intentId),
    ),
  decide({ input: { body }, actor }, batch: CardBatch, context) {
    const intent = batch.payments.find(body.intentId)
    if (!intent || !mayReachRecord(actor, intent)) return context.refuse('intent_not_found')
    const blocker = checkoutConfirmationBlocker(intent, batch)
    if (blocker) return context.refuse(blocker)
    const transactionId = confirmCheckoutPayment(intent, batch, context)
    return { status: 'completed' as const, intentId: intent.id, transactionId }
  },
  write: (batch: CardBatch, sql) => writeCardBatch(batch, sql),
}

type Handler = HandlerOf<typeof checkoutApi.execute, State>
type Request = Parameters<Handler['load']>[0][number]
type Verdict = Parameters<Handler['decide']>[2]

interface PaidIntent extends Row {
  readonly id: string
  readonly agentId: string
  readonly delegationId: string | null
  readonly tokenId: string | null
  readonly amountCents: Cents
  readonly fromWalletId: string
  readonly toWalletId: string | null
  readonly requestId: string | null
}

const PAID_INTENTS = `
select i.id, i.agent_id as "agentId", i.delegation_id as "delegationId", i.token_id as "tokenId", i.amount_cents as "amountCents",
  a.wallet_id as "fromWalletId", i.wallet_id as "toWalletId", i.request_id as "requestId"
from unnest($3::text[]) as w (id)
cross join lateral (select * from intents one where (one.owner_id, one.mode, one.id) = ($1, $2, w.id) limit 1) i
cross join lateral (select * from agents one where (one.owner_id, one.mode, one.id) = ($1, $2, i.agent_id) limit 1) a`

async function paidIntents(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PaidIntent>> {
  const rows = await sql<PaidIntent>(PAID_INTENTS, [ownerId, mode, [...new Set(ids)]])
  return new Map(rows.map(row => [row.id, row]))
}

type Requests = Awaited<ReturnType<typeof findPayeeRequests>>

function transferRequest(
  request: Request,
  intent: PaidIntent | undefined,
  requests: Requests,
): TransferRequest | undefined {
  if (!intent) return undefined
  const { id: intentId, fromWalletId, toWalletId, amountCents, requestId } = intent
  const body = { fromWalletId, amountCents, reference: null, intentId }
  const withBody = (members: Partial<TransferRequest['input']['body']>): TransferRequest => ({
    ...request,
    input: { params: {}, query: {}, body: { ...body, ...members } },
  })
  if (toWalletId !== null) return withBody({ toWalletId })
  const paymentRequest = requestId === null ? undefined : requests.get(requestId)
  if (!paymentRequest) return undefined
  const { ownerId, walletId, payee: name, iban } = paymentRequest
  const payable = { type: 'request', id: paymentRequest.id } as const
  return withBody({
    payee: { requestId: paymentRequest.id, paymentTokenId: null, ownerId, walletId, name, iban, payable },
  })
}

interface State {
  readonly intents: ReadonlyMap<string, PaidIntent>
  readonly requests: ReadonlyMap<Request, TransferRequest>
  readonly paymentRequests: Map<string, PayableRecord>
  readonly batch: TransferBatch | undefined
}

/**
 * Reads the payment requests again once the accounts are locked, so that no other payment of the same owner
 * can end them meanwhile.
 */
async function lockPaymentRequests(
  ids: readonly string[],
  tenant: Tenant,
  sql: Sql,
  { findPayables }: RunningService,
): Promise<Map<string, PayableRecord>> {
  const requests = ids.length > 0 ? await findPayables(ids, tenant.mode, sql, tenant) : []
  return new Map(requests.map(request => [request.id, request]))
}

/**
 * Undefined if the payment request can be paid now. If the intent is already paid, the refusal is that of the
 * intent.
 */
function refusalOfRequest(
  request: TransferRequest,
  { paymentRequests }: State,
  batch: TransferBatch,
  verdict: Verdict,
): Refusal | undefined {
  const { payee, amountCents } = request.input.body
  const refusal = payee?.requestId && payeeRequestRefusal(paymentRequests.get(payee.requestId), amountCents)
  if (!refusal) return undefined
  const [code, message] = refusal
  return intentTransferRefusal(request, batch, verdict) ?? verdict.refuse(code, message)
}

/** The payment is booked once the whole batch is decided, so later intents for the same request learn of it here. */
function markPaid({ input }: TransferRequest, { paymentRequests }: State): void {
  const request = paymentRequests.get(input.body.payee?.requestId ?? '')
  if (request) paymentRequests.set(request.id, { ...request, status: 'paid' })
}

export const executeCheckout = {
  async load(items, sql, ports): Promise<State> {
    const { tenant } = items[0]
    const ids = items.map(({ input }) => input.body.intentId)
    const intents = await paidIntents(sql, tenant, ids)
    const requestIds = [...intents.values()].flatMap(({ requestId }) => requestId ?? [])
    const found = await findPayeeRequests(sql, tenant.mode, requestIds, ports.service)
    const requests = new Map(
      items.flatMap(item => {
        const request = transferRequest(item, intents.get(item.input.body.intentId), found)
        return request ? [[item, request] as const] : []
      }),
    )
    const paid = [...requests.values()]
    const batch = isNonEmpty(paid) ? await decideTransfers.load(paid, sql, ports) : undefined
    const paymentRequests = await lockPaymentRequests([...found.keys()], tenant, sql, ports.service)
    return { intents, requests, paymentRequests, batch }
  },

  decide(item, state, verdict) {
    const { intents, requests, batch } = state
    const intent = intents.get(item.input.body.intentId)
    if (!intent || !mayReachRecord(item.actor, intent)) return verdict.refuse('intent_not_found')
    if (!mayUseRecord(item.actor, intent)) return verdict.refuse('intent_other_token')
    const request = requests.get(item)
    if (!request || !batch) return verdict.refuse('intent_not_by_wallet')
    const locked = batch.payments.find(intent.id)
    const problem = locked && intentPaymentProblem(item.actor, locked)
    if (problem) return verdict.refuse(problem)
    const refusal = refusalOfRequest(request, state, batch, verdict)
    if (refusal) return refusal
    const transfer = decideTransfers.decide(request, batch, verdict)
    if (transfer instanceof Refusal) return transfer
    const { id: transferId, transactionId } = transfer
    if (transactionId === null) throw new Error('a transfer between wallets without a transaction')
    markPaid(request, state)
    return { status: 'completed', intentId: intent.id, transactionId, transferId }
  },

  async write(state, sql, runForOwner) {
    const { batch } = state
    if (batch) await decideTransfers.write(batch, sql, runForOwner)
  },
} satisfies Handler
