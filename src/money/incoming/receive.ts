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
  'em' | 'sql' | 'tenant' | 'now' | 'emit' | 'actFor'
>

const KNOWN = `
select distinct c.origin, c.bank_reference as "bankReference"
from unnest($2::text[], $3::text[]) as a (origin, reference)
cross join lateral (
  select one.origin, one.bank_reference from incoming_credits one
  where (one.mode, one.origin, one.bank_reference) = ($1, a.origin, a.reference) limit 1) as c`

const bookingKey = ({ origin, bankReference }: Pick<ReceivedCredit, 'origin' | 'bankReference'>): string =>
  `${origin}|${bankReference}`

/** Those that have not come in before. A booking is known as a whole: its parts may be told once and not the next time. */
async function newCredits(
  sql: Sql,
  mode: string,
  arrivals: readonly ReceivedCredit[],
): Promise<ReceivedCredit[]> {
  const columns = [arrivals.map(({ origin }) => origin), arrivals.map(({ bankReference }) => bankReference)]
  const rows = await sql<Pick<ReceivedCredit, 'origin' | 'bankReference'> & Row>(KNOWN, [mode, ...columns])
  const known = new Set(rows.map(bookingKey))
  const once = new Map(arrivals.map(arrived => [`${bookingKey(arrived)}|${arrived.part}`, arrived]))
  return [...once.values()].filter(arrived => !known.has(bookingKey(arrived)))
}

/**
 * Money that has come in: each into the wallet for which it is meant, or onto suspense; what has come in before is left
 * out. Tenant by tenant, in one order, and within each the accounts in theirs: who does the same at once waits.
 */
export async function receive(
  arrivals: readonly ReceivedCredit[],
  reach: MatchScope,
  context: Receiving,
): Promise<IncomingCredit[]> {
  const fresh = await newCredits(context.sql, reach.mode, arrivals)
  const places = await destinationsOf(context.sql, fresh, reach)
  const byOwner = Map.groupBy(places, ({ tenant }) => tenant.ownerId)
  const owners = [...byOwner.keys()].toSorted()
  const credits: IncomingCredit[] = []
  for (const ownerId of owners)
    credits.push(
      ...(await receiveForOwner({ ownerId, mode: reach.mode }, byOwner.get(ownerId) ?? [], context)),
    )
  return credits
}

/** A file may bring thousands: so many are written at a time, and others have their turn in between. */
const AT_ONCE = 200

async function receiveForOwner(
  tenant: Tenant,
  places: readonly Destination[],
  context: Receiving,
): Promise<IncomingCredit[]> {
  const { em, sql, actFor } = context
  actFor(tenant)
  const ids = places.flatMap(({ walletId }) => walletId ?? [])
  const book = await openBook(sql, context, {
    wallets: ids,
    others: ['bank', 'suspense'],
    ifExists: DEBT_ACCOUNTS,
  })
  const wallets = await walletsById(sql, tenant, ids)
  const credits: IncomingCredit[] = []
  for (const [index, { arrived, walletId, reason }] of places.entries()) {
    const wallet = wallets.get(walletId ?? '')
    credits.push(
      wallet && wallet.status !== 'closed'
        ? creditWallet(arrived, wallet, book, context)
        : enterSuspense(arrived, reason, book, context),
    )
    if (index % AT_ONCE === AT_ONCE - 1) await em.flush()
  }
  await book.post(sql)
  return credits
}

function creditWallet(
  arrived: ReceivedCredit,
  wallet: WalletRow,
  book: Book,
  { em, tenant, emit }: Pick<Receiving, 'em' | 'tenant' | 'emit'>,
): IncomingCredit {
  const credit = em.create(IncomingCredit, { ...arrived, ...tenant, walletId: wallet.id })
  creditMachine.move(credit, 'matched')
  book.move('sepa_credit', 'bank', wallet.id, credit.amountEuros, causeOf(credit))
  emit('incoming.received', creditEvent(credit))
  emit('wallet.credited', walletEvent(wallet, book.balance(wallet.id).posted, credit.amountEuros))
  repayDebt(wallet, credit.amountEuros, causeOf(credit), book, emit)
  return credit
}
