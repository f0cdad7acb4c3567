import type { Tenant } from '../../kernel/contract/actor.ts'
import type { EmitContext, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import { newId } from '../../values/ids.ts'
import { addCents, type Cents, NO_CENTS, subtractCents } from '../../values/money.ts'
import {
  type LockedBook,
  type lockBook,
  OWNER_TRANSFER_ACCOUNTS,
  type PostingCause,
  type WalletsOfOtherOwner,
} from '../ledger/index.ts'
import { type PayableReference, payableColumns } from '../references/index.ts'
import { findMainWalletId, firstOpenWallet, type WalletRow, walletsById } from '../wallets/index.ts'
import type { incomingCreditEvents } from './api.ts'
import { bookHandedOverCredits, type HandedOverCredit, handOverCredit } from './hand-over.ts'
import {
  IncomingCredit,
  incomingCreditEvent,
  incomingCreditMachine,
  type NewCreditRows,
} from './incoming-credit.ts'
import {
  type CreditRecordContext,
  type CreditToReceive,
  creditWalletFromOutside,
  recordSuspenseCredit,
} from './receive.ts'

/** A payment from a wallet of the tenant to a wallet of any owner in the same mode, including the tenant's own. */
export interface OwnerPayment {
  /** The id of its credit, by which the caller finds the payment when a part is refunded. */
  readonly id?: string
  readonly fromWalletId: string
  readonly senderName: string | null
  readonly to: { readonly ownerId: string; readonly walletId: string; readonly name: string | null }
  readonly amountCents: Cents
  readonly payable: PayableReference | null
  readonly reference: string | null
}

/** A posted payment. The other owner books it next, or this owner receives it if both wallets are on one ledger. */
interface MadePayment {
  readonly id: string
  readonly handedOver: HandedOverCredit | null
}

export type OwnerPaymentContext = WriteContext<typeof incomingCreditEvents>

/** The accounts in the book for a payment between these wallets, of this owner or another one. */
export const ownerPaymentAccounts = (
  fromWalletId: string,
  to: Pick<OwnerPayment['to'], 'ownerId' | 'walletId'>,
) =>
  ({
    wallets: [fromWalletId, to.walletId],
    ...OWNER_TRANSFER_ACCOUNTS,
    otherOwners: [{ ownerId: to.ownerId, walletIds: [to.walletId] }],
  }) as const satisfies Parameters<typeof lockBook>[2]

/**
 * Pays an owner, and returns the id of the credit on both ledgers. `take` posts `charge_out` for the cause,
 * either from a wallet's available money or out of a hold. The payment leaves this ledger and enters the
 * other one in this transaction, so the book must have `ownerPaymentAccounts` of both locked.
 */
export const payOwner = async (
  payment: OwnerPayment,
  take: (cause: PostingCause) => void,
  book: LockedBook,
  context: OwnerPaymentContext,
): Promise<string> =>
  arrived(makePayment('owner', payment, take, await ownWallet(payment, context), book, context), context)

async function arrived(
  { id, handedOver }: MadePayment,
  { runForOwner }: OwnerPaymentContext,
): Promise<string> {
  if (handedOver) await bookHandedOverCredits([handedOver], runForOwner)
  return id
}

/**
 * Works as `payOwner`, in a group commit: the caller has read the wallets, inserts the credits, and books the
 * handed-over money.
 */
export const payOwnerInBatch = (
  payment: OwnerPayment,
  take: (cause: PostingCause) => void,
  wallets: ReadonlyMap<string, WalletRow>,
  book: LockedBook,
  rows: NewCreditRows,
  { tenant, now, emit, wake }: EmitContext<typeof incomingCreditEvents>,
): MadePayment =>
  makePayment('owner', payment, take, wallets.get(payment.to.walletId), book, {
    em: rows,
    tenant,
    now,
    emit,
    wake,
  })

export const refundableCreditCents = ({ source, amountCents, refundedCents }: IncomingCredit): Cents =>
  source === 'owner' ? subtractCents(amountCents, refundedCents) : NO_CENTS

/**
 * Refunds an owner's payment, or a part of it, to the paying wallet, in this transaction. The payer gets a
 * credit that names the payment. The caller has locked the credit and its `refundableWallets`, and has checked that
 * the wallet can pay.
 */
export async function refundOwnerPayment(
  credit: IncomingCredit,
  { amountCents, senderName, reference }: Pick<OwnerPayment, 'amountCents' | 'senderName' | 'reference'>,
  book: LockedBook,
  context: OwnerPaymentContext,
): Promise<string> {
  const { id, walletId, fromOwnerId, fromWalletId } = credit
  if (!walletId || !fromOwnerId || !fromWalletId || amountCents > refundableCreditCents(credit))
    throw new Error(`${id}: so much of it cannot be given back`)
  credit.refundedCents = addCents(credit.refundedCents, amountCents)
  const to = { ownerId: fromOwnerId, walletId: fromWalletId, name: credit.senderName }
  const payable = { type: 'payment', id } as const
  const payment = { fromWalletId: walletId, senderName, to, amountCents, payable, reference }
  const take = (cause: PostingCause) => book.move('charge_refund', walletId, 'bank', amountCents, cause)
  return arrived(
    makePayment('refund', payment, take, await ownRefundedWallet(payment, context), book, context),
    context,
  )
}

/** The wallets that refunds may go to: the paying one, or the owner's first one if that is closed. */
export const refundableWallets = (
  credits: readonly Pick<IncomingCredit, 'fromOwnerId' | 'fromWalletId'>[],
  { sql, tenant: { mode } }: SqlContext,
): Promise<WalletsOfOtherOwner[]> =>
  Promise.all(
    credits.flatMap(({ fromOwnerId: ownerId, fromWalletId }) =>
      ownerId && fromWalletId
        ? [
            findMainWalletId(sql, { ownerId, mode }).then(main => ({
              ownerId,
              walletIds: [fromWalletId, main ?? []].flat(),
            })),
          ]
        : [],
    ),
  )

const ownWallet = async (
  { to }: OwnerPayment,
  { sql, tenant }: OwnerPaymentContext,
): Promise<WalletRow | undefined> =>
  to.ownerId === tenant.ownerId ? (await walletsById(sql, tenant, [to.walletId])).get(to.walletId) : undefined

/** Money that goes back to a closed wallet of the owner's own goes to the owner's first one, as that of other owners does. */
async function ownRefundedWallet(
  { to }: OwnerPayment,
  { sql, tenant }: OwnerPaymentContext,
): Promise<WalletRow | undefined> {
  if (to.ownerId !== tenant.ownerId) return undefined
  const places = [to.walletId, (await findMainWalletId(sql, tenant)) ?? []].flat()
  const wallets = await walletsById(sql, tenant, places)
  return wallets.get(firstOpenWallet(places, wallets) ?? '')
}

function makePayment(
  source: 'owner' | 'refund',
  payment: OwnerPayment,
  take: (cause: PostingCause) => void,
  wallet: WalletRow | undefined,
  book: LockedBook,
  context: CreditRecordContext,
): MadePayment {
  const { em, tenant, now } = context
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
  const credit = em.create(IncomingCredit, { ...received, ...tenant, ...columns })
  incomingCreditMachine.move(credit, 'handed_over')
  return { id, handedOver: handOverCredit(credit) }
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
  { received, payable }: Pick<CreditToReceive, 'received' | 'payable'>,
  wallet: WalletRow | undefined,
  book: LockedBook,
  context: CreditRecordContext,
): IncomingCredit {
  if (!wallet || wallet.status === 'closed')
    return recordSuspenseCredit(received, 'wallet_closed', book, context)
  const tell = (credit: IncomingCredit) => context.emit('incoming.received', incomingCreditEvent(credit))
  return creditWalletFromOutside({ received, payable }, wallet, book, tell, context)
}
