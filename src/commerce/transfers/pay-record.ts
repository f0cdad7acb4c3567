import type { IntentRow } from '../../control/intents/index.ts'
import { payOwnerInBatch } from '../../money/incoming/index.ts'
import type { Cause } from '../../money/ledger/index.ts'
import type { WalletRow } from '../../money/wallets/index.ts'
import type { BatchState, RecordPayments } from './batch-state.ts'
import { transferEvent } from './events.ts'
import { creditIdOf } from './given-back.ts'
import {
  chargeTokenBudget,
  type RecordContext,
  type RecordPayee,
  type TransferRequest,
} from './intent-checks.ts'
import { newTransfer, transactionFor } from './new-transfer.ts'
import { transferMachine } from './transfer.ts'
import { type TransferRow, unsetFields } from './transfer-rows.ts'

/**
 * Pays the holder of a payment request or of a token. The transfer is completed in this transaction, also where the wallet
 * is another owner's, who books the money in it.
 */
export function payRecord(
  request: TransferRequest,
  payee: RecordPayee,
  batch: BatchState,
  records: RecordPayments,
  context: RecordContext,
) {
  const { emit, refuse } = context
  const { payments, wallets, transfers, transactions } = batch
  const { intentId, fromWalletId } = request.input.body
  const intent = payments.find(intentId)
  const from = wallets.get(fromWalletId)
  const own = payee.ownerId === request.tenant.ownerId ? wallets.get(payee.walletId) : undefined
  if (!from || !intent) return refuse('wallet_not_found')
  if (from === own) return refuse('same_wallet')
  if (from.status === 'closed' || own?.status === 'closed') return refuse('wallet_closed')
  if (from.status === 'frozen') return refuse('wallet_frozen')
  const transfer = completedTransfer(request, { from, own, intent }, batch)
  const transaction = transactionFor(transfer, intent, request, context)
  const { amountEuros } = transfer
  const take = (cause: Cause) => {
    const capture = { kind: 'charge_out', to: 'bank', amountEuros, cause } as const
    payments.complete(intent, { ...capture, transactionId: transaction.id }, batch.book, context)
  }
  const { id, handedOver } = payOwnerInBatch(
    {
      id: creditIdOf(transfer),
      fromWalletId,
      amountEuros,
      senderName: records.payerName,
      to: { ownerId: payee.ownerId, walletId: payee.walletId, name: payee.name },
      payable: payee.payable,
      reference: null,
    },
    take,
    wallets,
    batch.book,
    records.credits,
    { ...request, emit },
  )
  transfer.creditId = id
  if (handedOver) records.handedOver.push(handedOver)
  transfers.push(transfer)
  transactions.push(transaction)
  emit('transfer.completed', transferEvent(transfer))
  return { ...transfer, ...unsetFields }
}

interface Parties {
  readonly from: WalletRow
  readonly own: WalletRow | undefined
  readonly intent: IntentRow
}

function completedTransfer(
  request: TransferRequest,
  { from, own, intent }: Parties,
  batch: BatchState,
): TransferRow {
  const transfer = {
    ...newTransfer(request, from, intent),
    toWalletId: own?.id ?? null,
    tokenId: chargeTokenBudget(request, intent, batch),
    completedAt: request.now,
  }
  transferMachine.move(transfer, 'completed')
  return transfer
}
