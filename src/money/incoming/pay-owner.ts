import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { newId } from '../../values/ids.ts'
import { type Cents, minus, NO_CENTS, plus } from '../../values/money.ts'
import { BETWEEN_OWNERS, type Book, type Cause, type OtherWallets, type openBook } from '../ledger/index.ts'
import { type Payable, payableColumns } from '../references/index.ts'
import { mainWalletId, type WalletRow, walletsById } from '../wallets/index.ts'
import type { creditEvents } from './api.ts'
import { bookArrivals, type HandedOver, handedOver } from './hand-over.ts'
import { type CreditRows, creditEvent, creditMachine, IncomingCredit } from './incoming-credit.ts'
import { type Crediting, creditWallet, enterSuspense, type Incoming } from './receive.ts'

/** A payment from a wallet of the tenant to a wallet of any owner in the same mode, including the tenant's own. */
export interface OwnerPayment {
  /** The id of its credit, by which the caller finds the payment when a part is refunded. */
  readonly id?: string
  readonly fromWalletId: string
  readonly senderName: string | null
  readonly to: { readonly ownerId: string; readonly walletId: string; readonly name: string | null }
  readonly amountCents: Cents
  readonly payable: Payable | null
  readonly reference: string | null
}

/** A posted payment. The other owner books it next, or this owner receives it if both wallets are on one ledger. */
interface MadePayment {
  readonly id: string
  readonly handedOver: HandedOver | null
}

export type PayingContext = Pick<
  Context<never, typeof creditEvents>,
  'records' | 'sql' | 'tenant' | 'now' | 'emit' | 'runForOwner'
>

type MakingContext = Pick<TenantNow, 'now'> & Crediting

/** The accounts in the book for a payment between these wallets, of this owner or another one. */
export const accountsToPay = (fromWalletId: string, to: Pick<OwnerPayment['to'], 'ownerId' | 'walletId'>) =>
  ({
    wallets: [fromWalletId, to.walletId],
    ...BETWEEN_OWNERS,
    otherOwners: [{ ownerId: to.ownerId, walletIds: [to.walletId] }],
  }) as const satisfies Parameters<typeof openBook>[2]

/**
 * Pays an owner, and returns the id of the credit on both ledgers. `take` posts `charge_out` for the cause,
 * either from a wallet's available money or out of a hold. The payment leaves this ledger and enters the
 * other one in this transaction, so the book must have `accountsToPay` of both locked.
 */
export const payOwner = async (
  payment: OwnerPayment,
  take: (cause: Cause) => void,
  book: Book,
  context: PayingContext,
): Promise<string> =>
  arrived(makePayment('owner', payment, take, await ownWallet(payment, context), book, context), context)

async function arrived({ id, handedOver }: MadePayment, { runForOwner }: PayingContext): Promise<string> {
  if (handedOver) await bookArrivals([handedOver], runForOwner)
  return id
}

/**
 * Works as `payOwner`, in a group commit: the caller has read the wallets, inserts the credits, and books the
 * handed-over money.
 */
export const payOwnerInBatch = (
  payment: OwnerPayment,
  take: (cause: Cause) => void,
  wallets: ReadonlyMap<string, WalletRow>,
  book: Book,
  records: CreditRows,
  { tenant, now, emit }: TenantNow & Pick<PayingContext, 'emit'>,
): MadePayment =>
  makePayment('owner', payment, take, wallets.get(payment.to.walletId), book, {
    records,
    tenant,
    now,
    emit,
  })

export const refundableCents = ({ source, amountCents, refundedCents }: IncomingCredit): Cents =>
  source === 'owner' ? minus(amountCents, refundedCents) : NO_CENTS

/**
 * Refunds an owner's payment, or a part of it, to the paying wallet, in this transaction. The payer gets a
 * credit that names the payment. The caller has locked the credit and its `payersOf`, and has checked that
 * the wallet can pay.
 */
export async function refundOwner(
  credit: IncomingCredit,
  { amountCents, senderName, reference }: Pick<OwnerPayment, 'amountCents' | 'senderName' | 'reference'>,
  book: Book,
  context: PayingContext,
): Promise<string> {
  const { id, walletId, fromOwnerId, fromWalletId } = credit
  if (!walletId || !fromOwnerId || !fromWalletId || amountCents > refundableCents(credit))
    throw new Error(`${id}: so much of it cannot be given back`)
  credit.refundedCents = plus(credit.refundedCents, amountCents)
  const to = { ownerId: fromOwnerId, walletId: fromWalletId, name: credit.senderName }
  const payable = { type: 'payment', id } as const
  const payment = { fromWalletId: walletId, senderName, to, amountCents, payable, reference }
  const take = (cause: Cause) => book.move('charge_refund', walletId, 'bank', amountCents, cause)
  return arrived(
    makePayment('refund', payment, take, await ownWallet(payment, context), book, context),
    context,
  )
}

/** The wallets that refunds may go to: the paying one, or the owner's first one if that is closed. */
export const payersOf = (
  credits: readonly Pick<IncomingCredit, 'fromOwnerId' | 'fromWalletId'>[],
  { sql, tenant: { mode } }: Pick<PayingContext, 'sql' | 'tenant'>,
): Promise<OtherWallets[]> =>
  Promise.all(
    credits.flatMap(({ fromOwnerId: ownerId, fromWalletId }) =>
      ownerId && fromWalletId
        ? [
            mainWalletId(sql, { ownerId, mode }).then(main => ({
              ownerId,
              walletIds: [fromWalletId, main ?? []].flat(),
            })),
          ]
        : [],
    ),
  )

const ownWallet = async (
  { to }: OwnerPayment,
  { sql, tenant }: PayingContext,
): Promise<WalletRow | undefined> =>
  to.ownerId === tenant.ownerId ? (await walletsById(sql, tenant, [to.walletId])).get(to.walletId) : undefined

function makePayment(
  source: 'owner' | 'refund',
  payment: OwnerPayment,
  take: (cause: Cause) => void,
  wallet: WalletRow | undefined,
  book: Book,
  context: MakingContext,
): MadePayment {
  const { records, tenant, now } = context
  const { to, payable, id = newId('credit') } = payment
  take({ type: 'hand_over', id })
  const received = { ...receivedOf(payment, tenant, now), id, source, bankReference: id }
  if (to.ownerId === tenant.ownerId) {
    const credit = stayWithin({ received, payable }, wallet, book, context)
    credit.recipientName = to.name
    return { id, handedOver: null }
  }
  const leaving = { walletId: to.walletId, toOwnerId: to.ownerId, recipientName: to.name }
  const columns = { ...leaving, ...payableColumns(payable) }
  const credit = records.create(IncomingCredit, { ...received, ...tenant, ...columns })
  creditMachine.move(credit, 'handed_over')
  return { id, handedOver: handedOver(credit) }
}

const receivedOf = (
  { fromWalletId, senderName, amountCents, reference }: OwnerPayment,
  { ownerId }: Tenant,
  now: Date,
) => ({
  ...{ amountCents, reference, senderName, fromOwnerId: ownerId, fromWalletId },
  ...{ origin: 'owners', part: 0, iban: null, senderIban: null, endToEndId: null, reason: null },
  valueDate: now.toISOString().slice(0, 10),
})

/** The wallet is on the same ledger, so the payment is received in this transaction. */
function stayWithin(
  { received, payable }: Pick<Incoming, 'received' | 'payable'>,
  wallet: WalletRow | undefined,
  book: Book,
  context: MakingContext,
): IncomingCredit {
  if (!wallet || wallet.status === 'closed') return enterSuspense(received, 'wallet_closed', book, context)
  const tell = (credit: IncomingCredit) => context.emit('incoming.received', creditEvent(credit))
  return creditWallet({ received, payable }, wallet, book, tell, context)
}
