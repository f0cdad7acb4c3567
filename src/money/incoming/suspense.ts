import type { ReceivedCredit, UnmatchedReason } from '../../iso20022/credit.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Records } from '../../kernel/contract/records.ts'
import type { Euros } from '../../values/money.ts'
import { type Book, type Cause, openBook, postCollected } from '../ledger/index.ts'
import { type WalletEvent, type WalletRow, walletEvent } from '../wallets/index.ts'
import type { IncomingEvent } from './events.ts'
import { causeOf, creditEvent, IncomingCredit } from './incoming-credit.ts'

type SuspenseContext = Pick<
  Context<never, { 'incoming.received': typeof IncomingEvent }>,
  'records' | 'sql' | 'tenant' | 'now' | 'emit' | 'sendAlong'
>

/** Posts a credit to the tenant's suspense account, in a book that the caller has open. */
export function enterSuspense(
  received: ReceivedCredit,
  reason: UnmatchedReason,
  book: Book,
  {
    records,
    tenant,
    emit,
  }: Pick<SuspenseContext, 'tenant' | 'emit'> & {
    readonly records: Pick<Records, 'create'>
  },
): IncomingCredit {
  const credit = records.create(IncomingCredit, { ...received, ...tenant, reason })
  const posting = { to: 'suspense', amountEuros: credit.amountEuros, cause: causeOf(credit) }
  if (credit.source === 'acquirer')
    postCollected('collect_unmatched', { ...posting, from: 'clearing_acquirer' }, book)
  else book.move('unmatched_credit', 'bank', 'suspense', credit.amountEuros, causeOf(credit))
  emit('incoming.received', creditEvent(credit))
  return credit
}

/** Posts a credit to the tenant's suspense account, where it waits to be assigned. */
export async function creditSuspense(
  received: ReceivedCredit,
  reason: UnmatchedReason,
  context: SuspenseContext,
): Promise<IncomingCredit> {
  const book = await openBook(context.sql, context, { wallets: [], others: ['bank', 'suspense'] })
  const credit = enterSuspense(received, reason, book, context)
  context.sendAlong(book.post(context.sql))
  return credit
}

type Emit = Context<never, { 'wallet.debited': typeof WalletEvent }>['emit']

/** Money from outside first pays what the owner owes the platform. */
export function repayDebt(wallet: WalletRow, credited: Euros, cause: Cause, book: Book, emit: Emit): void {
  const paid = book.repayDebt(wallet.id, credited, cause)
  if (paid > 0n) emit('wallet.debited', walletEvent(wallet, book.balance(wallet.id).posted, paid))
}
