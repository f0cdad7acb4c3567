import type { ReceivedCredit } from '../../iso20022/credit.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type Book, DEBT_ACCOUNTS, openBook } from '../ledger/index.ts'
import { type WalletEvent, type WalletRow, walletEvent, walletsById } from '../wallets/index.ts'
import { causeOf, creditEvent, creditMachine, IncomingCredit } from './incoming-credit.ts'
import type { IncomingEvent } from './incoming-event.ts'
import { type Destination, destinationsOf, type MatchScope } from './match.ts'
import { repayDebt } from './repay-debt.ts'
import { enterSuspense } from './suspense.ts'

type Receiving = Pick<
  Context<
    never,
    {
      'incoming.received': typeof IncomingEvent
      'wallet.credited': typeof WalletEvent
      'wallet.debited': typeof WalletEvent
    }
  >,
  'records' | 'sql' | 'tenant' | 'now' | 'emit' | 'actFor' | 'sendAlong'
>

const RECORDED = `
select distinct c.origin, c.bank_reference as "bankReference"
from unnest($2::text[], $3::text[]) as a (origin, reference)
cross join lateral (
  select i.origin, i.bank_reference from incoming_credits i
  where (i.mode, i.origin, i.bank_reference) = ($1, a.origin, a.reference) limit 1) as c`

const bookingKey = ({ origin, bankReference }: Pick<ReceivedCredit, 'origin' | 'bankReference'>): string =>
  `${origin}|${bankReference}`

/** Leaves out repeated credits. A booking counts as a whole: another file may report it without its parts. */
async function newCredits(
  sql: Sql,
  mode: string,
  credits: readonly ReceivedCredit[],
): Promise<ReceivedCredit[]> {
  const origins = credits.map(({ origin }) => origin)
  const references = credits.map(({ bankReference }) => bankReference)
  const rows = await sql<Pick<ReceivedCredit, 'origin' | 'bankReference'> & Row>(RECORDED, [
    mode,
    origins,
    references,
  ])
  const recorded = new Set(rows.map(bookingKey))
  const distinct = new Map(credits.map(credit => [`${bookingKey(credit)}|${credit.part}`, credit]))
  return [...distinct.values()].filter(credit => !recorded.has(bookingKey(credit)))
}

/**
 * Records credits that are new: each goes into its wallet, or to suspense. Owners are processed in the order of their ids,
 * and accounts are locked in theirs, so that concurrent calls wait and cannot deadlock.
 */
export async function receive(
  received: readonly ReceivedCredit[],
  scope: MatchScope,
  context: Receiving,
): Promise<IncomingCredit[]> {
  const fresh = await newCredits(context.sql, scope.mode, received)
  const destinations = await destinationsOf(context.sql, fresh, scope)
  const byOwner = Map.groupBy(destinations, ({ tenant }) => tenant.ownerId)
  const owners = [...byOwner.keys()].toSorted()
  const credits: IncomingCredit[] = []
  for (const ownerId of owners)
    credits.push(
      ...(await receiveForOwner({ ownerId, mode: scope.mode }, byOwner.get(ownerId) ?? [], context)),
    )
  return credits
}

/** The records written at a time: a file may have thousands, and other requests run between two flushes. */
const FLUSH_EVERY = 200

async function receiveForOwner(
  tenant: Tenant,
  destinations: readonly Destination[],
  context: Receiving,
): Promise<IncomingCredit[]> {
  const { records, sql, actFor, sendAlong } = context
  actFor(tenant)
  const ids = destinations.flatMap(({ walletId }) => walletId ?? [])
  const [book, wallets] = await Promise.all([
    openBook(sql, context, { wallets: ids, others: ['bank', 'suspense'], ifExists: DEBT_ACCOUNTS }),
    walletsById(sql, tenant, ids),
  ])
  const credits: IncomingCredit[] = []
  for (const [index, { received, walletId, reason }] of destinations.entries()) {
    const wallet = wallets.get(walletId ?? '')
    credits.push(
      wallet && wallet.status !== 'closed'
        ? creditWallet(received, wallet, book, context)
        : enterSuspense(received, reason, book, context),
    )
    if (index % FLUSH_EVERY === FLUSH_EVERY - 1) await records.flush()
  }
  sendAlong(book.post(sql))
  return credits
}

function creditWallet(
  received: ReceivedCredit,
  wallet: WalletRow,
  book: Book,
  { records, tenant, emit }: Pick<Receiving, 'records' | 'tenant' | 'emit'>,
): IncomingCredit {
  const credit = records.create(IncomingCredit, { ...received, ...tenant, walletId: wallet.id })
  creditMachine.move(credit, 'matched')
  book.move('sepa_credit', 'bank', wallet.id, credit.amountEuros, causeOf(credit))
  emit('incoming.received', creditEvent(credit))
  emit('wallet.credited', walletEvent(wallet, book.balance(wallet.id).posted, credit.amountEuros))
  repayDebt(wallet, credit.amountEuros, causeOf(credit), book, emit)
  return credit
}
