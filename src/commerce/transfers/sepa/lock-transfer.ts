import { openPayments } from '../../../control/intents/index.ts'
import { paymentBatch } from '../../../control/payments/index.ts'
import { openBook } from '../../../money/ledger/index.ts'
import { openRefunds } from '../../../money/refunds/index.ts'
import { transactionOf } from '../../../money/transactions/index.ts'
import { walletInPlaceOf, walletsById } from '../../../money/wallets/index.ts'
import { holdReference } from '../channels.ts'
import { lockDay } from '../limits/limits.ts'
import { Transfer } from '../transfer.ts'
import { SepaTransfer, type StepContext } from './sepa-transfer.ts'

/** Locks a transfer and all that its next step may change, in the global order; null if there is no such transfer. */
export async function lockTransfer(id: string, context: StepContext): Promise<SepaTransfer | null> {
  const { records, sql, tenant } = context
  // Read without a lock for the ids that never change: the accounts are locked before the transfer.
  const unlocked = await records.findOne(Transfer, { id })
  if (!unlocked) return null
  const { intentId, fromWalletId, countedOn } = unlocked
  const [payments, ownersWalletId] = await Promise.all([
    openPayments(sql, context, intentId ? [intentId] : []),
    walletInPlaceOf(sql, tenant, fromWalletId),
  ])
  const walletIds = ownersWalletId ? [fromWalletId, ownersWalletId] : [fromWalletId]
  const [book, , , transfer, transaction, wallets, refunds] = await Promise.all([
    openBook(sql, context, {
      wallets: walletIds,
      others: ['bank', 'clearing_sepa', 'suspense'],
      holds: [holdReference(id), ...payments.holds],
    }),
    countedOn && lockDay(sql, tenant, countedOn),
    payments.lock(sql),
    records.lock(Transfer, id),
    transactionOf(context, id),
    walletsById(sql, tenant, walletIds),
    openRefunds(sql, context, {}),
  ])
  const wallet = wallets.get(fromWalletId)
  if (!transfer || !wallet) throw new Error(`${id}: a transfer without its wallet`)
  const batch = paymentBatch(context, { payments, book, wallets, refunds, ownersWalletId })
  if (transaction) batch.transactions.set(transaction.id, transaction)
  return new SepaTransfer({ transfer, wallet, batch }, context)
}
