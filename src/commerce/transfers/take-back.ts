import type { z } from 'zod'
import { type IntentPayments, openPayments } from '../../control/intents/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { type Reaction, reactionToAll } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { implement, post } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import {
  arrivalEvents,
  arrivals,
  IncomingEvent,
  ownRefunds,
  receiveHandedOver,
} from '../../money/incoming/index.ts'
import { arrivedEvents, openRefunds } from '../../money/refunds/index.ts'
import { transactionsById, updateTransactions } from '../../money/transactions/index.ts'
import type { Cents } from '../../values/money.ts'

export const takeBackApi = {
  takeBack: post('/transfers/given-back', {
    ...arrivals,
    summary: 'Book what another owner has given back',
    emits: { ...arrivalEvents, ...arrivedEvents },
  }),
}

/** The id of the credit by which a transfer reaches another owner: by it the transfer is found when a part comes back. */
export const creditIdOf = ({ id }: { readonly id: string }): string => id.replace('transfer_', 'credit_')

const transferIdOf = (creditId: string): string => creditId.replace('credit_', 'transfer_')

/** A transfer to the holder of a request or of a token. What it pays never changes. */
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

/** Payments of which a part comes back, with their agents and counters locked. */
interface OpenGivenBack {
  readonly transfers: ReadonlyMap<string, PaidTransfer>
  readonly payments: IntentPayments
}

type GivingBack = Pick<Context<never, typeof arrivedEvents>, 'sql' | 'tenant' | 'now' | 'emit' | 'sendAlong'>

/** Locks the agents who have paid, and their counters: to be called before any account is locked. */
export async function lockTakeBacks(
  tenant: Tenant,
  paymentIds: readonly string[],
  { sql, now }: Pick<GivingBack, 'sql' | 'now'>,
): Promise<OpenGivenBack> {
  const ids = [...new Set(paymentIds.map(transferIdOf))]
  const transfers = await sql<PaidTransfer>(PAID, [tenant.ownerId, tenant.mode, ids])
  const intentIds = transfers.map(({ intentId }) => intentId)
  return {
    transfers: new Map(transfers.map(transfer => [transfer.id, transfer])),
    payments: await openPayments(sql, { tenant, now }, intentIds),
  }
}

interface GivenBack {
  /** The credit by which it has come, and the wallet that has it; null in suspense. */
  readonly id: string
  readonly walletId: string | null
  readonly paymentId: string | null
  readonly amountCents: Cents
}

/** Takes what has come back out of the limits, and notes it on the transaction: the payment stays the intent's one payment. */
async function countGivenBack(
  { transfers, payments }: OpenGivenBack,
  givenBack: readonly GivenBack[],
  { sql, tenant, now, emit, sendAlong }: GivingBack,
): Promise<void> {
  await payments.lock(sql)
  const ids = [...transfers.values()].map(({ transactionId }) => transactionId)
  const [transactions, refunds] = await Promise.all([
    transactionsById(sql, tenant, ids),
    openRefunds(sql, { tenant, now }, { transactionIds: ids }),
  ])
  for (const { id, walletId, paymentId, amountCents } of givenBack) {
    const transfer = transfers.get(transferIdOf(paymentId ?? ''))
    const transaction = transactions.get(transfer?.transactionId ?? '')
    const intent = payments.find(transfer?.intentId)
    const agentId = transaction?.agentId ?? null
    const source = { type: 'credit', id }
    const receipt = { agentId, walletId, way: 'wallet', origin: 'payee', amountCents, source } as const
    const ofPayment = refunds.receive(transaction, receipt, emit)
    if (intent && ofPayment > 0n) payments.giveBack(intent, ofPayment)
  }
  sendAlong(refunds.write(sql))
  sendAlong(payments.write(sql))
  sendAlong(updateTransactions(sql, tenant, [...transactions.values()]))
}

/** Books a refund as every credit that was handed over: the transfer that had paid says what comes back. */
export const takeBack = implement(takeBackApi, {
  async takeBack({ body }, context) {
    const paymentIds = body.credits.flatMap(({ payableId }) => payableId ?? [])
    const opened = await lockTakeBacks(context.tenant, paymentIds, context)
    const paidBy = new Map(body.credits.map(({ id, payableId }) => [id, payableId]))
    const credits = await receiveHandedOver(body, context)
    // In suspense it is back as well: the record there does not say of what.
    const givenBack = credits.map(({ id, walletId, amountCents }) => ({
      id,
      walletId,
      paymentId: paidBy.get(id) ?? null,
      amountCents,
    }))
    await countGivenBack(opened, givenBack, context)
    return { done: true }
  },
})

type Credit = z.output<typeof IncomingEvent>

/** Between two wallets of one owner nothing is handed over: the refund is received with the transaction that makes it. */
async function countOwn(
  events: readonly Credit[],
  context: Context<never, typeof arrivedEvents>,
): Promise<void> {
  const { sql, tenant } = context
  const ids = events.map(({ creditId }) => creditId)
  const givenBack = await ownRefunds(sql, tenant, ids)
  if (givenBack.length === 0) return
  const paymentIds = givenBack.flatMap(({ paymentId }) => paymentId ?? [])
  const opened = await lockTakeBacks(tenant, paymentIds, context)
  await countGivenBack(opened, givenBack, context)
}

export const takeBackReactions: Readonly<Record<string, Reaction>> = {
  'incoming.received': {
    ...reactionToAll(IncomingEvent, arrivedEvents, countOwn),
    concerns: ({ payableType }) => payableType === 'payment',
  },
}
