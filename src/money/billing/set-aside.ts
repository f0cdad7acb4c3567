import type { Context } from '../../kernel/context.ts'
import { openBook } from '../ledger/ledger.ts'
import { aboutCredit, IncomingCredit, type UnmatchedReason } from './incoming-credit.ts'
import type { IncomingEvent } from './incoming-event.ts'

type Setting = Pick<
  Context<never, { 'incoming.received': typeof IncomingEvent }>,
  'em' | 'sql' | 'tenant' | 'now' | 'emit'
>

/** Money as it has arrived. */
export type Arrived = Pick<IncomingCredit, 'amountEuros' | 'source' | 'origin' | 'bankReference' | 'part'> &
  Pick<IncomingCredit, 'iban' | 'reference' | 'senderName' | 'senderIban' | 'endToEndId' | 'valueDate'>

const causeOf = ({ id, valueDate }: IncomingCredit) => ({ type: 'incoming_credit', id, valueDate })

/** Onto the suspense account of the tenant for whom we act, until somebody assigns it. */
export async function setAside(
  arrived: Arrived,
  reason: UnmatchedReason,
  context: Setting,
): Promise<IncomingCredit> {
  const { em, sql, tenant, emit } = context
  const credit = em.create(IncomingCredit, { ...arrived, ...tenant, status: 'unmatched', reason })
  const book = await openBook(sql, context, { wallets: [], others: ['bank', 'suspense'] })
  book.move('unmatched_credit', 'bank', 'suspense', credit.amountEuros, causeOf(credit))
  await book.post(sql)
  emit('incoming.received', aboutCredit(credit))
  return credit
}
