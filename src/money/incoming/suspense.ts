import type { ReceivedCredit, UnmatchedReason } from '../../iso20022/credit.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { type Book, openBook } from '../ledger/index.ts'
import { causeOf, creditEvent, IncomingCredit } from './incoming-credit.ts'
import type { IncomingEvent } from './incoming-event.ts'

type SuspenseContext = Pick<
  Context<never, { 'incoming.received': typeof IncomingEvent }>,
  'em' | 'sql' | 'tenant' | 'now' | 'emit'
>

/** Onto the suspense account of the tenant for whom we act, until somebody assigns it. */
export function enterSuspense(
  arrived: ReceivedCredit,
  reason: UnmatchedReason,
  book: Book,
  { em, tenant, emit }: Omit<SuspenseContext, 'sql' | 'now'>,
): IncomingCredit {
  const credit = em.create(IncomingCredit, { ...arrived, ...tenant, reason })
  book.move('unmatched_credit', 'bank', 'suspense', credit.amountEuros, causeOf(credit))
  emit('incoming.received', creditEvent(credit))
  return credit
}

/** The same in a book of its own. */
export async function creditSuspense(
  arrived: ReceivedCredit,
  reason: UnmatchedReason,
  context: SuspenseContext,
): Promise<IncomingCredit> {
  const book = await openBook(context.sql, context, { wallets: [], others: ['bank', 'suspense'] })
  const credit = enterSuspense(arrived, reason, book, context)
  await book.post(context.sql)
  return credit
}
