import type { IntentRow } from '../../control/intents/index.ts'
import { beginPayment } from '../../control/payments/index.ts'
import { sepaText } from '../../iso20022/sepa-charset.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import type { PayeeRow } from '../../money/beneficiaries/index.ts'
import { payOwnerInBatch } from '../../money/incoming/index.ts'
import { type AccountKey, type Cause, shortfallText, type Template } from '../../money/ledger/index.ts'
import { isPurse, purseRefusal, type WalletRow } from '../../money/wallets/index.ts'
import { after } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { MAX_REFERENCE_LENGTH } from './api.ts'
import { type BatchState, loadBatch, type RecordPayments, type SepaBatch, writeBatch } from './batch.ts'
import {
  authorizedOf,
  holdReference,
  sepaChannel,
  sepaPayment,
  transferEvidence,
  walletChannel,
  walletPayment,
} from './channels.ts'
import { transferEvent } from './events.ts'
import { creditIdOf } from './given-back.ts'
import {
  chargeTokenBudget,
  type DecideContext,
  intentRefusal,
  type PayHandler,
  type RecordContext,
  type RecordPayee,
  type TransferRequest,
} from './intent-checks.ts'
import { limitExceeded } from './limits/limits.ts'
import { transferProcess } from './process.ts'
import { PROCESS_GRACE_MS } from './sepa/sepa-transfer.ts'
import { transferMachine } from './transfer.ts'
import { type TransferRow, unsetFields } from './transfer-rows.ts'

const payingWallet = ({ input }: TransferRequest, { wallets }: BatchState) =>
  wallets.get(input.body.fromWalletId)

/** Pays from wallet to wallet: the transfer is completed in this transaction. */
function payWallet(request: TransferRequest, batch: BatchState, context: DecideContext) {
  const { refuse } = context
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
  const transfer = newTransfer(request, from, intent, batch)
  const cause = holdReference(transfer.id)
  if (intent) captureIntent(transfer, intent, { capture: 'transfer', to: to.id, cause }, batch, context)
  else book.move('transfer', from.id, to.id, amountEuros, cause)
  return complete(transfer, batch, context)
}

/** How the money of an intent's transfer leaves. */
interface Leaving {
  readonly capture: Template
  readonly to: AccountKey
  readonly cause: Cause
}

/** Completes the intent with this transfer as its one payment, out of the money that is held for the intent. */
function captureIntent(
  transfer: TransferRow,
  intent: IntentRow,
  { capture, to, cause }: Leaving,
  batch: BatchState,
  context: DecideContext,
): void {
  const payment = walletPayment(transfer, intent)
  const captured = { type: 'captured', cents: transfer.amountEuros } as const
  const evidence = transferEvidence(transfer, cause)
  beginPayment(payment, captured, walletChannel(capture, to), evidence, batch, context)
  transfer.transactionId = payment.transactionId
}

function complete(transfer: TransferRow, { transfers, now }: BatchState, { emit }: DecideContext) {
  transferMachine.move(transfer, 'completed')
  transfer.completedAt = now
  transfers.push(transfer)
  emit('transfer.completed', transferEvent(transfer))
  return { ...transfer, ...unsetFields }
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
  const transfer = bySepa(request, newTransfer(request, from, intent, batch), payee, sepa.day)
  sepa.used += amountEuros
  sepa.added += amountEuros
  const [payment, evidence] = [sepaPayment(transfer), transferEvidence(transfer)]
  beginPayment(payment, authorizedOf(transfer), sepaChannel, evidence, batch, context)
  batch.transfers.push(transfer)
  context.emit('payment.updated', transferEvent(transfer))
  context.wake(transferProcess, transfer)
  return { ...transfer, ...unsetFields }
}

function bySepa(
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

/**
 * Pays the holder of a payment request or of a token. The transfer is completed in this transaction, also where the wallet
 * is another owner's, who books the money in it.
 */
function payRecord(
  request: TransferRequest,
  payee: RecordPayee,
  batch: BatchState,
  records: RecordPayments,
  context: RecordContext,
) {
  const { emit, refuse } = context
  const { payments, wallets, book } = batch
  const intent = payments.find(request.input.body.intentId)
  const from = payingWallet(request, batch)
  const own = payee.ownerId === request.tenant.ownerId ? wallets.get(payee.walletId) : undefined
  if (!from || !intent) return refuse('wallet_not_found')
  if (from === own) return refuse('same_wallet')
  if (from.status === 'closed' || own?.status === 'closed') return refuse('wallet_closed')
  if (from.status === 'frozen') return refuse('wallet_frozen')
  const transfer = { ...newTransfer(request, from, intent, batch), toWalletId: own?.id ?? null }
  const take = (cause: Cause) =>
    captureIntent(transfer, intent, { capture: 'charge_out', to: 'bank', cause }, batch, context)
  const { ownerId, walletId, name, payable } = payee
  const paid = {
    id: creditIdOf(transfer),
    fromWalletId: from.id,
    amountEuros: transfer.amountEuros,
    senderName: records.payerName,
    to: { ownerId, walletId, name },
    payable,
    reference: null,
  }
  const { id, handedOver } = payOwnerInBatch(paid, take, wallets, book, records.credits, { ...request, emit })
  transfer.creditId = id
  if (handedOver) records.handedOver.push(handedOver)
  return complete(transfer, batch, context)
}

/** A transfer as it is made, charged to the budget of the token that pays. */
function newTransfer(
  request: TransferRequest,
  from: WalletRow,
  intent: IntentRow | undefined,
  batch: BatchState,
): TransferRow {
  const { input, tenant, now } = request
  const { toWalletId = null, beneficiaryId = null, intentId = null, amountEuros, reference } = input.body
  return {
    ...tenant,
    ...{ id: newId('transfer'), createdAt: now, updatedAt: now, status: transferMachine.initial },
    ...{ agentId: from.agentId, fromWalletId: from.id, toWalletId, beneficiaryId, amountEuros, reference },
    ...{ intentId, delegationId: intent?.delegationId ?? null },
    tokenId: chargeTokenBudget(request, intent, batch),
    kind: 'internal',
    ...{ scheme: null, endToEndId: null, payee: null, creditId: null, transactionId: null },
    ...{ countedOn: null, inquiries: 0, dueAt: null, completedAt: null, workflowId: null },
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
  write: writeBatch,
} satisfies PayHandler<BatchState>
