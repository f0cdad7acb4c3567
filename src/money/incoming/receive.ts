import type { Arrived } from '../../iso20022/credit.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type Book, openBook, RECOVERING } from '../ledger/index.ts'
import { type Known, type WalletEvent, walletEvent, walletsOf } from '../wallets/index.ts'
import { causeOf, creditEvent, creditMachine, IncomingCredit } from './incoming-credit.ts'
import type { IncomingEvent } from './incoming-event.ts'
import { match, type Place, type Reach } from './match.ts'
import { recoverFrom } from './repay-debt.ts'
import { enterAside } from './suspense.ts'

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

const nameOf = ({ origin, bankReference }: Pick<Arrived, 'origin' | 'bankReference'>): string =>
  `${origin}|${bankReference}`

/** Those that have not come in before. A booking is known as a whole: its parts may be told once and not the next time. */
async function unknownOf(sql: Sql, mode: string, arrivals: readonly Arrived[]): Promise<Arrived[]> {
  const columns = [arrivals.map(({ origin }) => origin), arrivals.map(({ bankReference }) => bankReference)]
  const rows = await sql<Pick<Arrived, 'origin' | 'bankReference'> & Row>(KNOWN, [mode, ...columns])
  const known = new Set(rows.map(nameOf))
  const once = new Map(arrivals.map(arrived => [`${nameOf(arrived)}|${arrived.part}`, arrived]))
  return [...once.values()].filter(arrived => !known.has(nameOf(arrived)))
}

/**
 * Money that has come in: each into the wallet for which it is meant, or onto suspense; what has come in before is left
 * out. Tenant by tenant, in one order, and within each the accounts in theirs: who does the same at once waits.
 */
export async function receive(
  arrivals: readonly Arrived[],
  reach: Reach,
  context: Receiving,
): Promise<IncomingCredit[]> {
  const fresh = await unknownOf(context.sql, reach.mode, arrivals)
  const places = await match(context.sql, fresh, reach)
  const byOwner = Map.groupBy(places, ({ tenant }) => tenant.ownerId)
  const owners = [...byOwner.keys()].toSorted()
  const credits: IncomingCredit[] = []
  for (const ownerId of owners)
    credits.push(...(await keepFor({ ownerId, mode: reach.mode }, byOwner.get(ownerId) ?? [], context)))
  return credits
}

/** A file may bring thousands: so many are written at a time, and others have their turn in between. */
const AT_ONCE = 200

async function keepFor(
  tenant: Tenant,
  places: readonly Place[],
  context: Receiving,
): Promise<IncomingCredit[]> {
  const { em, sql, actFor } = context
  actFor(tenant)
  const ids = places.flatMap(({ walletId }) => walletId ?? [])
  const book = await openBook(sql, context, {
    wallets: ids,
    others: ['bank', 'suspense'],
    ifThere: RECOVERING,
  })
  const wallets = await walletsOf(sql, tenant, ids)
  const credits: IncomingCredit[] = []
  for (const [index, { arrived, walletId, reason }] of places.entries()) {
    const wallet = wallets.get(walletId ?? '')
    credits.push(
      wallet && wallet.status !== 'closed'
        ? enter(arrived, wallet, book, context)
        : enterAside(arrived, reason, book, context),
    )
    if (index % AT_ONCE === AT_ONCE - 1) await em.flush()
  }
  await book.post(sql)
  return credits
}

function enter(
  arrived: Arrived,
  wallet: Known,
  book: Book,
  { em, tenant, emit }: Pick<Receiving, 'em' | 'tenant' | 'emit'>,
): IncomingCredit {
  const credit = em.create(IncomingCredit, { ...arrived, ...tenant, walletId: wallet.id })
  creditMachine.move(credit, 'matched')
  book.move('sepa_credit', 'bank', wallet.id, credit.amountEuros, causeOf(credit))
  emit('incoming.received', creditEvent(credit))
  emit('wallet.credited', walletEvent(wallet, book.balance(wallet.id).posted, credit.amountEuros))
  recoverFrom(wallet, credit.amountEuros, causeOf(credit), book, emit)
  return credit
}
