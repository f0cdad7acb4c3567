import type { z } from 'zod'
import type { BudgetCounters } from '../../control/budgets/index.ts'
import { SpendLocks } from '../../control/intents/index.ts'
import {
  intentHoldReference,
  type PayingIntent,
  PaymentSession,
  type PaymentState,
  type PostedPaymentBatch,
  paymentBatch,
} from '../../control/payments/index.ts'
import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import { type Reaction, reactionToAll } from '../../kernel/contract/area.ts'
import type { Context, EmitContext, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import { bindHandlers, DONE, post } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import {
  creditArrivalContract,
  creditArrivalEvents,
  IncomingCreditEvent,
  readRefundsByOwners,
  receiveHandedOverCredits,
} from '../../money/incoming/index.ts'
import { loadRefundBook, refundArrivedEvents } from '../../money/refunds/index.ts'
import { type TransactionRow, transactionsById, updateTransactions } from '../../money/transactions/index.ts'
import { type Cents, NO_CENTS } from '../../values/money.ts'
import { walletPaymentFromTransaction, walletPaymentView } from './channels.ts'

export const transferRefundApi = {
  takeBack: post('/transfers/given-back', {
    ...creditArrivalContract,
    summary: 'Book a refund of another owner',
    emits: { ...creditArrivalEvents, ...refundArrivedEvents },
  }),
}

export const creditIdOfTransfer = ({ id }: { readonly id: string }): string =>
  id.replace('transfer_', 'credit_')

const transferIdOf = (creditId: string): string => creditId.replace('credit_', 'transfer_')

/** A transfer to the holder of a request or of a token. These facts never change. */
interface PaidTransfer extends Row {
  readonly id: string
  readonly intentId: string
  readonly transactionId: string
}

const PAID = `
select t.id, t.intent_id as "intentId", t.transaction_id as "transactionId"
from unnest($3::text[]) as a (id)
cross join lateral (select * from transfers where (owner_id, mode, id) = ($1, $2, a.id) limit 1) as t
where t.credit_id is not null and t.intent_id is not null and t.transaction_id is not null`

interface OpenRefunds {
  readonly transfers: ReadonlyMap<string, PaidTransfer>
  readonly counters: BudgetCounters
}

/** Locks the paying agents and their counters. Call this before any account is locked. */
export async function lockRefundedAgents(
  tenant: Tenant,
  paymentIds: readonly string[],
  { sql, now }: SqlContext & TenantNow,
): Promise<OpenRefunds> {
  const ids = [...new Set(paymentIds.map(transferIdOf))]
  const transfers = await sql<PaidTransfer>(PAID, [tenant.ownerId, tenant.mode, ids])
  const intentIds = [...new Set(transfers.map(({ intentId }) => intentId))]
  const locks = new SpendLocks(sql, { tenant, now })
  await locks.agentsOf(intentIds)
  const { counters } = await locks.take({ reservations: intentIds.map(intentHoldReference) })
  return { transfers: new Map(transfers.map(transfer => [transfer.id, transfer])), counters }
}

/**
 * The batch that refunds transfers into wallets. A paid intent has no hold, so its limits depend only on the
 * payment.
 */
export function transferRefundBatch(
  tenantNow: TenantNow,
  opened: Pick<PostedPaymentBatch, 'counters' | 'refunds'> & {
    readonly transactions: ReadonlyMap<string, TransactionRow>
  },
) {
  const transactions = new Map(opened.transactions)
  const intents = new Map<string | null, PayingIntent>()
  for (const { id: transactionId, intentId, amountCents, merchant, cardId, runId } of transactions.values()) {
    const members = { amountCents, merchant, cardId, runId, transactionId }
    if (intentId) intents.set(intentId, { id: intentId, holdCents: null, paymentId: null, ...members })
  }
  const payments = { counters: opened.counters, find: (id: string | null) => intents.get(id) }
  return paymentBatch(tenantNow, { payments, refunds: opened.refunds, transactions })
}

interface RefundPart {
  readonly id: string
  readonly amountCents: Cents
  readonly walletId: string | null
  readonly source: { readonly type: string; readonly id: string } | null
}

const BY_PAYEE = { way: 'wallet', origin: 'payee' } as const

export const refundTransfer = (
  transaction: TransactionRow,
  { id, amountCents: cents, ...place }: RefundPart,
  batch: PostedPaymentBatch,
  context: EmitContext<typeof refundArrivedEvents>,
): PaymentState =>
  new PaymentSession(walletPaymentView, batch, context).refund(
    walletPaymentFromTransaction(transaction),
    { type: 'refunded', id, cents },
    { ...BY_PAYEE, ...place },
  )

interface ReceivedRefund extends Omit<RefundPart, 'source'> {
  readonly paymentId: string | null
}

async function recordRefunds(
  { transfers, counters }: OpenRefunds,
  givenBack: readonly ReceivedRefund[],
  context: WriteContext<typeof refundArrivedEvents>,
): Promise<void> {
  const { sql, tenant, now, emit, queueStatement } = context
  const ids = [...transfers.values()].map(({ transactionId }) => transactionId)
  const [transactions, refunds] = await Promise.all([
    transactionsById(sql, tenant, ids),
    loadRefundBook(sql, { tenant, now }, { transactionIds: ids }),
  ])
  const batch = transferRefundBatch({ tenant, now }, { counters, refunds, transactions })
  for (const { paymentId, ...cameBack } of givenBack) {
    const transfer = transfers.get(transferIdOf(paymentId ?? ''))
    const transaction = transactions.get(transfer?.transactionId ?? '')
    const { id, walletId, amountCents } = cameBack
    const source = { type: 'credit', id }
    if (transaction) refundTransfer(transaction, { ...cameBack, source }, batch, context)
    else refunds.record(null, { ...BY_PAYEE, agentId: null, walletId, amountCents, source }, NO_CENTS, emit)
  }
  queueStatement(refunds.write(sql))
  queueStatement(counters.write(sql))
  queueStatement(updateTransactions(sql, tenant, [...batch.changed.transactions]))
}

export const bookTransferRefund = bindHandlers(transferRefundApi, {
  async takeBack({ body }, context) {
    const paymentIds = body.credits.flatMap(({ payableId }) => payableId ?? [])
    const opened = await lockRefundedAgents(context.tenant, paymentIds, context)
    const paidBy = new Map(body.credits.map(({ id, payableId }) => [id, payableId]))
    const credits = await receiveHandedOverCredits(body, context)
    // Money in suspense also counts as refunded, since the record there does not name its payment.
    const givenBack = credits.map(({ id, walletId, amountCents }) => ({
      id,
      walletId,
      paymentId: paidBy.get(id) ?? null,
      amountCents,
    }))
    await recordRefunds(opened, givenBack, context)
    return DONE
  },
})

type Credit = z.output<typeof IncomingCreditEvent>

/** Between two wallets of one owner, the refund is recorded with its transaction. */
async function recordOwnRefunds(
  events: readonly Credit[],
  context: Context<never, typeof refundArrivedEvents>,
): Promise<void> {
  const { sql, tenant } = context
  const ids = events.map(({ creditId }) => creditId)
  const givenBack = await readRefundsByOwners(sql, tenant, ids)
  if (givenBack.length === 0) return
  const paymentIds = givenBack.flatMap(({ paymentId }) => paymentId ?? [])
  const opened = await lockRefundedAgents(tenant, paymentIds, context)
  await recordRefunds(opened, givenBack, context)
}

export const transferRefundReactions: Readonly<Record<string, Reaction>> = {
  'incoming.received': {
    ...reactionToAll(IncomingCreditEvent, refundArrivedEvents, recordOwnRefunds),
    concerns: ({ payableType }) => payableType === 'payment',
  },
}
