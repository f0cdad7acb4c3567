import type { z } from 'zod'
import { onlyWith, reactionToAll } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { IncomingEvent } from '../../money/incoming/index.ts'
import { transactionEvents } from '../../money/transactions/index.ts'
import { WalletEvent } from '../../money/wallets/index.ts'
import { cancelRequest } from './end.ts'
import { paymentEvents, requestEvents } from './events.ts'
import { addPayment, lockRequests, paymentUnderWay, writeRequests } from './payments.ts'
import { openRequestsOf } from './request-rows.ts'

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

export const collectReactions = {
  'incoming.received': onlyWith('payableId', reactionToAll(IncomingEvent, paid, countCredits)),
  'incoming.assigned': onlyWith('payableId', reactionToAll(IncomingEvent, paid, countCredits)),
  'wallet.closed': reactionToAll(
    WalletEvent,
    { 'claim.request.cancelled': requestEvents['claim.request.cancelled'] },
    cancelOfClosed,
  ),
}
