import type { Arrived, UnmatchedReason } from '../../iso20022/credit.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { type Book, openBook } from '../ledger/index.ts'
import { causeOf, creditEvent, IncomingCredit } from './incoming-credit.ts'
import type { IncomingEvent } from './incoming-event.ts'

type Setting = Pick<
  Context<never, { 'incoming.received': typeof IncomingEvent }>,
  'em' | 'sql' | 'tenant' | 'now' | 'emit'
>

/** Onto the suspense account of the tenant for whom we act, until somebody assigns it. */
export function enterAside(
  arrived: Arrived,
  reason: UnmatchedReason,
  book: Book,
  { em, tenant, emit }: Omit<Setting, 'sql' | 'now'>,
): IncomingCredit {
  const credit = em.create(IncomingCredit, { ...arrived, ...tenant, reason })
  book.move('unmatched_credit', 'bank', 'suspense', credit.amountEuros, causeOf(credit))
  emit('incoming.received', creditEvent(credit))
  return credit
}

/** The same in a book of its own. */
export async function setAside(
  arrived: Arrived,
  reason: UnmatchedReason,
  context: Setting,
): Promise<IncomingCredit> {
  const book = await openBook(context.sql, context, { wallets: [], others: ['bank', 'suspense'] })
  const credit = enterAside(arrived, reason, book, context)
  await book.post(context.sql)
  return credit
}
