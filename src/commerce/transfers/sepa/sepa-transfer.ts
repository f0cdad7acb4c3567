import {
  IntentPayments,
  type IntentRow,
  type IntentSubmissionBlocker,
  SpendLocks,
} from '../../../control/intents/index.ts'
import {
  intentHoldReference,
  type PaymentBatch,
  PaymentSession,
  paymentBatch,
  writePayments,
} from '../../../control/payments/index.ts'
import type { IsoReason } from '../../../iso20022/reason-codes.ts'
import type { EmitContext, WriteContext } from '../../../kernel/contract/context.ts'
import { FOR_UPDATE } from '../../../kernel/database/entity.ts'
import { DEBT_ACCOUNTS } from '../../../money/ledger/index.ts'
import { loadRefundBook } from '../../../money/refunds/index.ts'
import { findTransactionOfTransfer } from '../../../money/transactions/index.ts'
import { findReplacementWallet, type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import { addMs, days, minutes } from '../../../values/clock.ts'
import {
  sepaChannel,
  sepaPaymentFromTransfer,
  type TransferPayment,
  transferEvidence,
  transferHoldReference,
  transferReversedFact,
} from '../channels.ts'
import { lockTransferDays, type TransferDayTotals } from '../limits.ts'
import { recallProcess, transferProcess } from '../process.ts'
import type { sepaTransferEvents, transferEvents } from '../schemas.ts'
import { Transfer, type TransferRow, transferEvent, transferMachine } from '../transfer.ts'

export const PAYEE_CONFIRMATION_TTL_MS = days(7)
/** Longer than any call: an answer that has not come by then is lost. */
export const PAYEE_CHECK_CLAIM_MS = 15_000
export const INSTANT_TIME_LIMIT_MS = 10_000

/** The pause after each inquiry. After the last of these, the pause is a day. */
const INQUIRY_PAUSES_MS = [INSTANT_TIME_LIMIT_MS, minutes(1), minutes(10), minutes(60), minutes(360)]
export const inquiryDelay = (inquiries: number): number => INQUIRY_PAUSES_MS[inquiries] ?? days(1)

/** An instant payment may be on its way to the rail until its time is over: an earlier inquiry would take it for lost. */
export function nextInquiryAt({ status, scheme, submittedAt }: Transfer, now: Date): Date {
  const over = submittedAt && addMs(submittedAt, INSTANT_TIME_LIMIT_MS)
  return status === 'submitted' && scheme === 'sct_inst' && over && over > now ? over : now
}

export const cancellationReasons = {
  wallet_frozen: {
    code: 'wallet_frozen',
    message: 'The wallet was frozen before the transfer was submitted.',
  },
  agent_not_active: {
    code: 'agent_not_active',
    message: 'The agent was frozen before the transfer was submitted.',
  },
  customer_suspended: {
    code: 'customer_suspended',
    message: 'The account was suspended before the transfer was submitted.',
  },
  delegation_revoked: {
    code: 'delegation_revoked',
    message: 'The delegation of the intent was revoked before the transfer was submitted.',
  },
  intent_other_merchant: {
    code: 'intent_other_merchant',
    message:
      'The agent is locked to its first merchant, and paid another one before the transfer was submitted.',
  },
} as const satisfies Record<
  IntentSubmissionBlocker | 'wallet_frozen' | 'customer_suspended' | 'delegation_revoked',
  IsoReason
>

export type TransferStepContext = WriteContext<typeof sepaTransferEvents>

export interface LockedTransfer {
  readonly transfer: Transfer
  readonly payment: TransferPayment
  readonly wallet: WalletRow
  readonly intent: IntentRow | undefined
  readonly batch: PaymentBatch
  readonly days: TransferDayTotals
}

/** Locks a transfer and all that its next step may change, in the global order; null if there is no such transfer. */
export async function lockTransfer(
  id: string,
  context: TransferStepContext,
  debt: { readonly [when in 'others' | 'ifExists']?: typeof DEBT_ACCOUNTS } = {},
): Promise<LockedTransfer | null> {
  const { em, sql, tenant } = context
  // Reads ids that never change without a lock, since the accounts are locked before the transfer.
  const unlocked = await em.findOne(Transfer, { id })
  if (!unlocked) return null
  const { intentId, fromWalletId, status } = unlocked
  const intents = intentId ? [intentId] : []
  const locks = new SpendLocks(sql, context)
  const [, ownersWalletId] = await Promise.all([
    locks.agentsOf(intents),
    findReplacementWallet(sql, tenant, fromWalletId),
  ])
  const walletIds = ownersWalletId ? [fromWalletId, ownersWalletId] : [fromWalletId]
  const references = intents.map(intentHoldReference)
  const [rows, locked, transfer, transaction, wallets, refunds] = await Promise.all([
    locks.take({
      reservations: references,
      wallets: walletIds,
      others: ['bank', 'clearing_sepa', 'suspense', ...(debt.others ?? [])],
      // Money that still comes back from a completed transfer repays debts, whichever message brings it.
      ifExists: debt.ifExists ?? (status === 'completed' ? DEBT_ACCOUNTS : []),
      holds: [transferHoldReference(id), ...references],
      intents,
    }),
    lockTransferDays(sql, tenant, [unlocked]),
    em.findOne(Transfer, { id }, FOR_UPDATE),
    findTransactionOfTransfer(id, sql, tenant),
    walletsById(sql, tenant, walletIds),
    loadRefundBook(sql, context, {}),
  ])
  const wallet = wallets.get(fromWalletId)
  if (!transfer || !wallet) throw new Error(`${id}: a transfer without its wallet`)
  const payments = new IntentPayments(context, rows)
  const batch = paymentBatch(context, { payments, book: rows.book, wallets, refunds, ownersWalletId })
  if (transaction) batch.transactions.set(transaction.id, transaction)
  const intent = payments.find(intentId)
  return { transfer, payment: sepaPaymentFromTransfer(transfer), wallet, intent, batch, days: locked }
}

export async function writeTransfer(
  { batch, days }: LockedTransfer,
  { sql }: TransferStepContext,
): Promise<void> {
  await Promise.all([writePayments(batch, sql), days.write(sql)])
}

export function emitTransferEvent(
  event: keyof typeof transferEvents,
  transfer: TransferRow,
  { emit, wake }: EmitContext<typeof transferEvents>,
  comment?: string | null,
): true {
  emit(event, transferEvent(transfer, comment ?? undefined))
  wake(transfer.recall?.status === 'requested' ? recallProcess : transferProcess, transfer)
  return true
}

export function updateTransfer(
  transfer: Transfer,
  members: Partial<
    Pick<Transfer, 'reason' | 'recall' | 'dueAt' | 'inquiries' | 'payeeCheck' | 'payeeConfirmedAt'>
  >,
  context: TransferStepContext,
  comment: string | null = null,
): true {
  Object.assign(transfer, members)
  return emitTransferEvent('payment.updated', transfer, context, comment)
}

export function cancelTransfer(
  { transfer, batch, days }: { readonly transfer: TransferRow } & Pick<LockedTransfer, 'batch' | 'days'>,
  reason: IsoReason | null,
  context: EmitContext<Pick<typeof transferEvents, 'transfer.failed'>>,
): boolean {
  const payment = sepaPaymentFromTransfer(transfer)
  if (transfer.kind !== 'sepa' || !transferMachine.move(transfer, 'cancelled')) return false
  const session = new PaymentSession(sepaChannel, batch, context)
  session.hold(payment, transferReversedFact(transfer), transferEvidence(transfer))
  days.giveBack(transfer)
  Object.assign(transfer, { reason, dueAt: null })
  context.emit('transfer.failed', transferEvent(transfer))
  context.wake(transferProcess, transfer)
  return true
}
