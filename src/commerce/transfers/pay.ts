import type { IntentRow } from '../../control/intents/index.ts'
import { sepaText } from '../../iso20022/sepa-charset.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import type { PayeeRow } from '../../money/beneficiaries/index.ts'
import { bookArrivals } from '../../money/incoming/index.ts'
import { shortfallText } from '../../money/ledger/index.ts'
import { insertTransactions } from '../../money/transactions/index.ts'
import { isPurse, purseRefusal } from '../../money/wallets/index.ts'
import { after } from '../../values/clock.ts'
import { MAX_REFERENCE_LENGTH } from './api.ts'
import { type BatchState, loadBatch, type SepaBatch } from './batch-state.ts'
import { transferEvent } from './events.ts'
import {
  chargeTokenBudget,
  type DecideContext,
  intentRefusal,
  type PayHandler,
  type TransferRequest,
} from './intent-checks.ts'
import { addToDay, limitExceeded } from './limits/limits.ts'
import { newTransfer, transactionFor } from './new-transfer.ts'
import { payRecord } from './pay-record.ts'
import { transferProcess } from './process.ts'
import { PROCESS_GRACE_MS } from './sepa/sepa-transfer.ts'
import { transferMachine } from './transfer.ts'
import { insertTransfers, type TransferRow, unsetFields } from './transfer-rows.ts'

const payingWallet = ({ input }: TransferRequest, { wallets }: BatchState) =>
  wallets.get(input.body.fromWalletId)

/** Pays from wallet to wallet: the transfer is completed in this transaction. */
function payWallet(request: TransferRequest, batch: BatchState, context: DecideContext) {
  const { emit, refuse } = context
  const { book, wallets, payments } = batch
  const intent = payments.find(request.input.body.intentId)
  const { toWalletId, amountEuros } = request.input.body
  const from = payingWallet(request, batch)
  const to = wallets.get(String(toWalletId))
  if (!from || !to) return refuse('wallet_not_found')
  if (from === to) return refuse('same_wallet')
  if (isPurse(from)) return refuse('wallet_of_card', purseRefusal('fromWalletId')[1])
  if (isPurse(to)) return refuse('wallet_of_card', purseRefusal('toWalletId')[1])
  if (from.status === 'closed' || to.status === 'closed') return refuse('wallet_closed')
  if (from.status === 'frozen') return refuse('wallet_frozen')
  if (!intent && !book.canPay(from.id, amountEuros))
    return refuse('insufficient_funds', shortfallText(amountEuros, book.available(from.id)))
  const transfer = {
    ...newTransfer(request, from, intent),
    tokenId: chargeTokenBudget(request, intent, batch),
    completedAt: request.now,
  }
  transferMachine.move(transfer, 'completed')
  if (intent) completeIntent(transfer, intent, request, batch, context)
  else book.move('transfer', from.id, to.id, amountEuros, { type: 'transfer', id: transfer.id })
  batch.transfers.push(transfer)
  emit('transfer.completed', transferEvent(transfer))
  return { ...transfer, ...unsetFields }
}

/** Completes the intent with this transfer as its one payment, out of the money that is held for the intent. */
function completeIntent(
  transfer: TransferRow,
  intent: IntentRow,
  tenantNow: TenantNow,
  { book, payments, transactions }: BatchState,
  context: DecideContext,
): void {
  const { id, toWalletId, amountEuros } = transfer
  const transaction = transactionFor(transfer, intent, tenantNow, context)
  transactions.push(transaction)
  const cause = { type: 'transfer', id }
  const payment = { kind: 'transfer', to: String(toWalletId), amountEuros, cause } as const
  payments.complete(intent, { ...payment, transactionId: transaction.id }, book, context)
}

/** Begins a payment by SEPA: its money is held, the day's limit is used, and its process begins with the commit. */
function payBeneficiary(
  request: TransferRequest,
  batch: BatchState,
  sepa: SepaBatch,
  context: DecideContext,
) {
  const { refuse } = context
  const { book, payments } = batch
  const intent = payments.find(request.input.body.intentId)
  const { beneficiaryId, amountEuros } = request.input.body
  const from = payingWallet(request, batch)
  const payee = sepa.payees.get(String(beneficiaryId))
  if (!from) return refuse('wallet_not_found')
  if (!payee) return refuse('beneficiary_not_found')
  if (isPurse(from)) return refuse('wallet_of_card', purseRefusal('fromWalletId')[1])
  if (sepa.railMissing) return refuse('sepa_rail_missing', sepa.railMissing)
  if (from.status === 'closed') return refuse('wallet_closed')
  if (from.status === 'frozen') return refuse('wallet_frozen')
  const above = limitExceeded(sepa.limits, sepa.used, amountEuros)
  if (above) return refuse(...above)
  if (!intent && !book.canPay(from.id, amountEuros))
    return refuse('insufficient_funds', shortfallText(amountEuros, book.available(from.id)))
  const transfer = newSepaTransfer(request, newTransfer(request, from, intent), payee, sepa.day)
  transfer.tokenId = chargeTokenBudget(request, intent, batch)
  sepa.used += amountEuros
  sepa.added += amountEuros
  if (intent) payments.begin(intent, transfer.id)
  else book.hold(from.id, amountEuros, { type: 'transfer', id: transfer.id })
  batch.transfers.push(transfer)
  context.emit('payment.updated', transferEvent(transfer))
  context.wake(transferProcess, transfer)
  return { ...transfer, ...unsetFields }
}

function newSepaTransfer(
  { input: { body }, now }: TransferRequest,
  transfer: TransferRow,
  { name, sepaName, iban, bic }: PayeeRow,
  day: string,
): TransferRow {
  const { scheme = 'sct', reference } = body
  return {
    ...transfer,
    kind: 'sepa',
    scheme,
    reference: reference && sepaText(reference, MAX_REFERENCE_LENGTH),
    endToEndId: transfer.id.replace('transfer_', ''),
    payee: { name, sepaName, iban, bic },
    countedOn: day,
    dueAt: after(now, PROCESS_GRACE_MS),
    workflowId: workflowIdOf(transferProcess, transfer.id),
  }
}

/** Pays into a wallet of the owner, or by SEPA. */
export function payOwnPayee(request: TransferRequest, batch: BatchState, context: DecideContext) {
  const refusal = intentRefusal(request, batch, context)
  if (refusal) return refusal
  return batch.sepa && request.input.body.beneficiaryId !== undefined
    ? payBeneficiary(request, batch, batch.sepa, context)
    : payWallet(request, batch, context)
}

/** Decides in group commits: thousands of payments a second may come from few wallets. */
export const pay = {
  load: loadBatch,
  decide(request, batch, context) {
    const { payee } = request.input.body
    if (!payee || !batch.records) return payOwnPayee(request, batch, context)
    return intentRefusal(request, batch, context) ?? payRecord(request, payee, batch, batch.records, context)
  },
  async write({ sepa, records, book, payments, transfers, transactions }, sql, runForOwner) {
    const tenant = transfers[0]
    if (!tenant) return
    await Promise.all([
      sepa && sepa.added > 0n && addToDay(sql, tenant, sepa.day, sepa.added),
      insertTransfers(sql, transfers),
      insertTransactions(sql, transactions),
      records?.credits.insert(sql),
      payments.write(sql),
      book.post(sql),
      records && bookArrivals(records.handedOver, runForOwner),
    ])
  },
} satisfies PayHandler<BatchState>
