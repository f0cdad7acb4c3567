import type { IntentRow } from '../../control/intents/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import {
  completedTransaction,
  type TransactionRow,
  type transactionEvents,
} from '../../money/transactions/index.ts'
import type { WalletRow } from '../../money/wallets/index.ts'
import { newId } from '../../values/ids.ts'
import type { TransferRequest } from './intent-checks.ts'
import { transferMachine } from './transfer.ts'
import type { TransferRow } from './transfer-rows.ts'

export const newTransfer = (
  { input: { body }, tenant, now }: TransferRequest,
  from: WalletRow,
  intent: IntentRow | undefined,
): TransferRow => ({
  ...tenant,
  id: newId('transfer'),
  createdAt: now,
  updatedAt: now,
  agentId: from.agentId,
  fromWalletId: from.id,
  toWalletId: body.toWalletId ?? null,
  beneficiaryId: body.beneficiaryId ?? null,
  creditId: null,
  intentId: body.intentId ?? null,
  tokenId: null,
  delegationId: intent?.delegationId ?? null,
  kind: 'internal',
  scheme: null,
  amountEuros: body.amountEuros,
  reference: body.reference,
  endToEndId: null,
  payee: null,
  status: transferMachine.initial,
  countedOn: null,
  inquiries: 0,
  dueAt: null,
  completedAt: null,
  transactionId: null,
  workflowId: null,
})

/** The transaction of a transfer that is completed at once, and pays an intent. */
export function transactionFor(
  transfer: TransferRow,
  { id: intentId, agentId, runId, merchant, mcc, country }: IntentRow,
  tenantNow: TenantNow,
  context: Pick<Context<never, typeof transactionEvents>, 'emit'>,
): TransactionRow {
  const { id: transferId, fromWalletId: walletId, amountEuros } = transfer
  const paid = { type: 'transfer', walletId, amountEuros, transferId } as const
  const transaction = completedTransaction(
    { ...paid, agentId, intentId, runId, merchant, mcc, country },
    tenantNow,
    context,
  )
  transfer.transactionId = transaction.id
  return transaction
}
