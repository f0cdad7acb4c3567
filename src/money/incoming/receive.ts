import type { z } from 'zod'
import type { ReceivedCredit, UnmatchedCreditReason } from '../../iso20022/credit.ts'
import type { Context, EmitContext, WriteContext } from '../../kernel/contract/context.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import { type ContextOf, DONE, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Cents } from '../../values/money.ts'
import {
  DEBT_ACCOUNTS,
  type LockedBook,
  lockBook,
  type PostingCause,
  postAcquirerMovement,
} from '../ledger/index.ts'
import { payableColumns, payableFromColumns } from '../references/index.ts'
import {
  findMainWalletId,
  firstOpenWallet,
  type WalletRow,
  walletEvent,
  walletsById,
} from '../wallets/index.ts'
import type { creditArrivalContract, incomingCreditEvents, incomingStepsApi } from './api.ts'
import type { CreditPayer } from './hand-over.ts'
import {
  IncomingCredit,
  incomingCreditCause,
  incomingCreditEvent,
  incomingCreditMachine,
  isCreditFromOwner,
} from './incoming-credit.ts'
import { type CreditDestination, type CreditMatchScope, findCreditDestinations } from './match.ts'

export type ReceiveCreditsContext = WriteContext<typeof incomingCreditEvents>

interface CreditRecording {
  readonly em: Pick<EntityManager, 'create'>
}

export type CreditRecordContext = CreditRecording & EmitContext<typeof incomingCreditEvents>

type ReceivedEvent = Pick<typeof incomingCreditEvents, 'incoming.received'>
type SuspenseContext = CreditRecording & EmitContext<ReceivedEvent>

const RECORDED = `
select distinct c.origin, c.bank_reference as "bankReference"
from unnest($2::text[], $3::text[]) as a (origin, reference)
cross join lateral (
  select i.origin, i.bank_reference from incoming_credits i
  where (i.mode, i.origin, i.bank_reference) = ($1, a.origin, a.reference) limit 1) as c`

const bookingKey = ({ origin, bankReference }: Pick<ReceivedCredit, 'origin' | 'bankReference'>): string =>
  `${origin}|${bankReference}`

/** Omits repeated credits. A booking counts as a whole, since another file may report it without its parts. */
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

export const findNewCreditDestinations = async (
  sql: Sql,
  received: readonly ReceivedCredit[],
  scope: CreditMatchScope,
): Promise<CreditDestination[]> =>
  findCreditDestinations(sql, await newCredits(sql, scope.mode, received), scope)

/** Records per write. A file may have thousands, and other requests run between two flushes. */
export const CREDIT_FLUSH_BATCH = 200

export interface CreditToReceive extends Pick<CreditDestination, 'walletId' | 'payable' | 'reason'> {
  readonly received: ReceivedCredit & Partial<CreditPayer> & { readonly id?: string }
}

/**
 * Records credits of the tenant. Each goes into its wallet, or to suspense. `tell` emits the event of a
 * credit in its wallet.
 */
export async function receiveCredits(
  incoming: readonly CreditToReceive[],
  context: ReceiveCreditsContext,
  tell: (credit: IncomingCredit) => void = credit =>
    context.emit('incoming.received', incomingCreditEvent(credit)),
): Promise<IncomingCredit[]> {
  const { em, sql, tenant, queueStatement } = context
  const comesBack = incoming.some(({ received }) => received.source === 'refund')
  const main = comesBack ? await findMainWalletId(sql, tenant) : undefined
  const ids = [...incoming.flatMap(({ walletId }) => walletId ?? []), ...(main ? [main] : [])]
  const [book, wallets, repeated] = await Promise.all([
    lockBook(sql, context, { wallets: ids, others: ['bank', 'suspense'], ifExists: DEBT_ACCOUNTS }),
    walletsById(sql, tenant, ids),
    alreadyRecorded(incoming, context),
  ])
  const credits: IncomingCredit[] = []
  for (const { received, walletId, payable, reason } of incoming) {
    if (repeated.has(received.id ?? '')) continue
    // Money returned to a closed wallet goes to the owner's main wallet.
    const places = received.source === 'refund' ? [walletId, main] : [walletId]
    const wallet = wallets.get(firstOpenWallet(places, wallets) ?? '')
    credits.push(
      wallet
        ? creditWalletFromOutside({ received, payable }, wallet, book, tell, context)
        : recordSuspenseCredit(received, reason, book, context),
    )
    if (credits.length % CREDIT_FLUSH_BATCH === 0) await em.flush()
  }
  queueStatement(book.post(sql))
  return credits
}

/** The bookings of an earlier attempt. Reads once the accounts are locked, when a concurrent attempt has ended. */
async function alreadyRecorded(
  incoming: readonly CreditToReceive[],
  { em, tenant }: ReceiveCreditsContext,
): Promise<ReadonlySet<string>> {
  const ids = incoming.flatMap(({ received }) => received.id ?? [])
  if (ids.length === 0) return new Set()
  const recorded = await em.find(IncomingCredit, { ...tenant, id: { $in: ids } })
  return new Set(recorded.map(({ id }) => id))
}

const postingOf = ({ source }: IncomingCredit) =>
  source === 'owner' ? 'charge_in' : source === 'refund' ? 'charge_refunded' : 'sepa_credit'

export function creditWalletFromOutside(
  { received, payable }: Pick<CreditToReceive, 'received' | 'payable'>,
  wallet: WalletRow,
  book: LockedBook,
  tell: (credit: IncomingCredit) => void,
  { em, tenant, emit }: CreditRecordContext,
): IncomingCredit {
  const paid = { walletId: wallet.id, ...payableColumns(payable) }
  const credit = em.create(IncomingCredit, { ...received, ...tenant, ...paid })
  // The operator has assigned a wallet to a credit that was not matched at first.
  incomingCreditMachine.move(credit, credit.reason ? 'assigned' : 'matched')
  book.move(postingOf(credit), 'bank', wallet.id, credit.amountCents, incomingCreditCause(credit))
  tell(credit)
  emit('wallet.credited', walletEvent(wallet, book.balance(wallet.id).posted, credit.amountCents))
  repayWalletDebt(wallet, credit.amountCents, incomingCreditCause(credit), book, emit)
  return credit
}

export function recordSuspenseCredit(
  received: ReceivedCredit,
  reason: UnmatchedCreditReason,
  book: LockedBook,
  { em, tenant, emit }: SuspenseContext,
): IncomingCredit {
  const credit = em.create(IncomingCredit, { ...received, ...tenant, reason })
  const posting = { to: 'suspense', amountCents: credit.amountCents, cause: incomingCreditCause(credit) }
  if (credit.source === 'acquirer')
    postAcquirerMovement('collect_unmatched', { ...posting, from: 'clearing_acquirer' }, book)
  else book.move('unmatched_credit', 'bank', 'suspense', credit.amountCents, incomingCreditCause(credit))
  emit('incoming.received', incomingCreditEvent(credit))
  return credit
}

export async function postToSuspense(
  received: ReceivedCredit,
  reason: UnmatchedCreditReason,
  context: WriteContext<ReceivedEvent>,
): Promise<IncomingCredit> {
  const book = await lockBook(context.sql, context, { wallets: [], others: ['bank', 'suspense'] })
  const credit = recordSuspenseCredit(received, reason, book, context)
  context.queueStatement(book.post(context.sql))
  return credit
}

type Emit = Context<never, Pick<typeof incomingCreditEvents, 'wallet.debited'>>['emit']

/** Money from outside first repays the owner's debt to the platform. */
export function repayWalletDebt(
  wallet: WalletRow,
  credited: Cents,
  cause: PostingCause,
  book: LockedBook,
  emit: Emit,
): void {
  const paid = book.repayDebt(wallet.id, credited, cause)
  if (paid > 0n) emit('wallet.debited', walletEvent(wallet, book.balance(wallet.id).posted, paid))
}

type Arrivals = z.output<(typeof creditArrivalContract)['body']>

export const bookArrivedCredits: HandlerOf<typeof incomingStepsApi.arrive> = async ({ body }, context) => {
  await receiveHandedOverCredits(body, context)
  return DONE
}

export function receiveHandedOverCredits(
  { credits }: Arrivals,
  context: ContextOf<typeof incomingStepsApi.arrive>,
): Promise<IncomingCredit[]> {
  const incoming = credits.map(({ walletId, payableType, payableId, ...received }) => ({
    received: { ...received, valueDate: valueDateOf(received, context.now) },
    walletId,
    payable: payableFromColumns({ payableType, payableId }),
    reason: 'wallet_closed' as const,
  }))
  return receiveCredits(incoming, context, credit =>
    context.emit(credit.reason ? 'incoming.assigned' : 'incoming.received', incomingCreditEvent(credit)),
  )
}

/**
 * Money of another owner never was at a bank, so its value date is that of its booking, even if the two
 * owners' clocks differ.
 */
const valueDateOf = (credit: Pick<IncomingCredit, 'source' | 'valueDate'>, now: Date): string =>
  isCreditFromOwner(credit) ? now.toISOString().slice(0, 10) : credit.valueDate
