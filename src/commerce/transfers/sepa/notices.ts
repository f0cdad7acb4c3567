import { type PaymentFact, PaymentSession, refundWalletId } from '../../../control/payments/index.ts'
import { payeeCheckFromCode } from '../../../iso20022/pain002.ts'
import type { ReportedPayeeCheck, ReportedStatus } from '../../../iso20022/payment-notice.ts'
import { type IsoReason, isoReasonOf, recallRefusalReason } from '../../../iso20022/reason-codes.ts'
import type { Mode } from '../../../kernel/contract/actor.ts'
import { bindHandlers, type ContextOf } from '../../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { DEBT_ACCOUNTS } from '../../../money/ledger/index.ts'
import {
  isUnansweredRailCall,
  type SepaPaymentStatus,
  type SepaRecallStatus,
  type UnansweredRailCall,
} from '../../../ports/sepa-rail.ts'
import { sepaChannel, transferEvidence, transferReversedFact } from '../channels.ts'
import type { transferEvents } from '../schemas.ts'
import { isWorsePayeeCheck, type Transfer, transferMachine, transferResponse } from '../transfer.ts'
import { simulateSepaApi } from './api.ts'
import {
  emitTransferEvent,
  type LockedTransfer,
  lockTransfer,
  type TransferStepContext,
  updateTransfer,
  writeTransfer,
} from './sepa-transfer.ts'

export type RailAnswer = SepaPaymentStatus | UnansweredRailCall

/**
 * Records how the rail says that the payment stands. Answers whether the payment was lost on its way to the rail, and is to be
 * submitted again.
 */
export async function recordRailAnswer(
  id: string,
  answer: RailAnswer,
  context: TransferStepContext,
): Promise<boolean> {
  const locked = await lockTransfer(id, context)
  if (!locked) return false
  applyStatus(locked, answer, context)
  await writeTransfer(locked, context)
  return isUnknown(answer) && mayBeLost(locked.transfer)
}

const isUnknown = (answer: RailAnswer): boolean =>
  !isUnansweredRailCall(answer) && answer.status === 'unknown'

/** A payment that the rail has acknowledged cannot be lost. The time limit of an instant one is over. */
const mayBeLost = ({ status, scheme, acknowledgedAt }: Transfer): boolean =>
  status === 'submitted' && scheme === 'sct' && acknowledgedAt === null

export async function recordRecallAnswer(
  id: string,
  answer: SepaRecallStatus | UnansweredRailCall,
  context: TransferStepContext,
): Promise<void> {
  const locked = await lockTransfer(id, context)
  if (!locked || isUnansweredRailCall(answer) || answer.status === 'pending') return
  applyNotice(locked, `recall_${answer.status}`, answer.reasonCode, context)
  await writeTransfer(locked, context)
}

function applyStatus(locked: LockedTransfer, answer: RailAnswer, context: TransferStepContext): boolean {
  const { transfer } = locked
  if (isUnansweredRailCall(answer)) return markIndeterminate(transfer, context)
  if (answer.status === 'pending') return acknowledge(transfer, context)
  if (answer.status !== 'unknown') return applyNotice(locked, answer.status, answer.reasonCode, context)
  // A payment that the rail has acknowledged cannot be lost.
  const isLost = transfer.scheme === 'sct_inst' && transfer.acknowledgedAt === null
  return isLost ? applyNotice(locked, 'rejected', 'TM01', context) : markIndeterminate(transfer, context)
}

type Notice =
  | Exclude<SepaPaymentStatus['status'], 'pending' | 'unknown'>
  | 'recall_accepted'
  | 'recall_refused'

/** True if the notice changed the transfer. A repeated or outdated notice changes nothing. */
export function applyNotice(
  locked: LockedTransfer,
  notice: Notice,
  reasonCode: string | null,
  context: TransferStepContext,
): boolean {
  const { transfer } = locked
  const reason = (notice === 'recall_refused' ? recallRefusalReason : isoReasonOf)(reasonCode)
  if (notice === 'settled') return settle(locked, context) || markContradiction(transfer, context)
  if (notice === 'recall_refused') return answerRecall(transfer, 'refused', reason, context)
  if (notice === 'recall_accepted' && transfer.recall?.status !== 'requested') return false
  answerRecall(transfer, 'accepted', reason, context)
  // A settled payment can no longer be rejected, so it is returned.
  const isRejected = notice !== 'returned' && reject(locked, reason, context)
  return isRejected || sendBack(locked, reason, context)
}

function settle(locked: LockedTransfer, context: TransferStepContext): boolean {
  const { transfer } = locked
  if (!transferMachine.move(transfer, 'completed')) return false
  const isAskedBack = transfer.recall?.status === 'requested'
  const members = { completedAt: context.now, reason: null, dueAt: isAskedBack ? transfer.dueAt : null }
  Object.assign(transfer, members)
  stateFact(locked, { type: 'cleared', id: transfer.id, cents: transfer.amountCents, final: true }, context)
  return emitTransferEvent('transfer.completed', transfer, context)
}

function reject(locked: LockedTransfer, reason: IsoReason, context: TransferStepContext): boolean {
  const { transfer, payment, days } = locked
  if (!transferMachine.move(transfer, 'rejected')) return false
  payment.declineReason = reason.message
  stateFact(locked, transferReversedFact(transfer), context)
  days.giveBack(transfer)
  return end('transfer.failed', locked, reason, null, context)
}

function sendBack(locked: LockedTransfer, reason: IsoReason, context: TransferStepContext): boolean {
  const { transfer, payment, batch } = locked
  settle(locked, context)
  if (!transferMachine.move(transfer, 'returned')) return false
  const walletId = refundWalletId(payment, batch)
  stateFact(locked, { type: 'refunded', id: transfer.id, cents: transfer.amountCents }, context)
  return end('transfer.returned', locked, reason, walletId, context)
}

const stateFact = (
  { transfer, payment, batch }: LockedTransfer,
  fact: PaymentFact,
  context: TransferStepContext,
) => new PaymentSession(sepaChannel, batch, context).apply(payment, fact, transferEvidence(transfer))

/** A closed wallet cannot refuse money that returns; the reason states where the money is. */
function end(
  event: keyof typeof transferEvents,
  { transfer, wallet }: LockedTransfer,
  { code, message }: IsoReason,
  walletId: string | null,
  context: TransferStepContext,
): boolean {
  const place = walletId ? `in the wallet ${walletId}` : 'kept in suspense'
  const whereItIs = wallet.status === 'closed' ? ` The wallet is closed: the money is ${place}.` : ''
  Object.assign(transfer, { reason: { code, message: message + whereItIs }, dueAt: null })
  return emitTransferEvent(event, transfer, context)
}

function markContradiction(transfer: Transfer, context: TransferStepContext): boolean {
  const { status, reason } = transfer
  if (status !== 'rejected' || reason?.code === CONTRADICTION.code) return false
  return updateTransfer(transfer, { reason: CONTRADICTION }, context)
}

const CONTRADICTION: IsoReason = {
  code: 'contradiction',
  message:
    'The bank reports a settlement after it rejected the payment. The money is in the wallet. Ask the bank.',
}

function answerRecall(
  transfer: Transfer,
  status: 'accepted' | 'refused',
  answer: IsoReason,
  context: TransferStepContext,
): boolean {
  const { recall } = transfer
  if (recall?.status !== 'requested') return false
  const dueAt = transfer.status === 'submitted' ? transfer.dueAt : null
  const answered = { ...recall, status, answeredAt: context.now.toISOString(), answer }
  return updateTransfer(transfer, { recall: answered, dueAt }, context)
}

const INDETERMINATE: IsoReason = {
  code: 'indeterminate',
  message: 'The bank has not reported the outcome. The service asks again, and nothing is paid twice.',
}

export function markIndeterminate(transfer: Transfer, context: TransferStepContext): boolean {
  const { status, reason } = transfer
  return (
    status === 'submitted' && reason === null && updateTransfer(transfer, { reason: INDETERMINATE }, context)
  )
}

/**
 * Records that the rail has the payment. An instant payment becomes indeterminate, since it should have ended
 * by now.
 */
function acknowledge(transfer: Transfer, context: TransferStepContext): boolean {
  if (transfer.status !== 'submitted') return false
  transfer.acknowledgedAt ??= context.now
  return (
    transfer.scheme === 'sct' &&
    transfer.reason !== null &&
    updateTransfer(transfer, { reason: null }, context)
  )
}

/**
 * The bank verified the payee after it received the order. A person's earlier confirmation of the payee stays
 * valid.
 */
function checkPayee(transfer: Transfer, check: ReportedPayeeCheck, context: TransferStepContext): void {
  const { payeeCheck, payeeConfirmedAt } = transfer
  if (!isWorsePayeeCheck(check, payeeCheck)) return
  const isAsConfirmed = check.result === 'match' || check.result === payeeCheck?.result
  const members = {
    payeeCheck: { ...check, at: context.now.toISOString() },
    payeeConfirmedAt: isAsConfirmed ? payeeConfirmedAt : null,
  }
  updateTransfer(transfer, members, context)
}

export type SubmittedPayment = Row &
  Pick<Transfer, 'id' | 'ownerId' | 'amountCents'> & { readonly endToEndId: string }

const FIND_SUBMITTED = `
select id, owner_id as "ownerId", end_to_end_id as "endToEndId", amount_cents as "amountCents"
from transfers where end_to_end_id = any($2) and mode = $1 and submitted_at is not null`

export const submittedPayments = (
  sql: Sql,
  mode: Mode,
  endToEndIds: readonly string[],
): Promise<SubmittedPayment[]> => sql<SubmittedPayment>(FIND_SUBMITTED, [mode, endToEndIds])

export type BankNotice = Pick<ReportedStatus, 'notice' | 'reasonCode' | 'payeeCheck'>

/**
 * Money that the bank returns repays debts first, as all money from outside does. A rejection before the settlement repays
 * nothing: a rejected transfer can still be submitted and returned, and the ledger accepts one repayment for a transfer.
 */
const lockNotified = (id: string, { notice }: Partial<BankNotice>, context: TransferStepContext) =>
  lockTransfer(id, context, notice === 'returned' ? { ifExists: DEBT_ACCOUNTS } : {})

export async function applyBankNotice(
  transferId: string,
  bankNotice: BankNotice,
  context: TransferStepContext,
): Promise<void> {
  const locked = await lockNotified(transferId, bankNotice, context)
  if (locked?.transfer.submittedAt) await applyReport(locked, bankNotice, context)
}

async function applyReport(
  locked: LockedTransfer,
  { notice, reasonCode, payeeCheck }: BankNotice,
  context: TransferStepContext,
): Promise<void> {
  if (notice && notice !== 'payee_checked') applyNotice(locked, notice, reasonCode, context)
  else if (payeeCheck) checkPayee(locked.transfer, payeeCheck, context)
  await writeTransfer(locked, context)
}

type SimulateContext = ContextOf<typeof simulateSepaApi.simulateReject>

async function simulateNotice(transferId: string, bankNotice: Partial<BankNotice>, context: SimulateContext) {
  const { tenant, refuse } = context
  if (tenant.mode !== 'test') return refuse('test_mode_only')
  const locked = await lockNotified(transferId, bankNotice, context)
  if (!locked) return refuse('transfer_not_found')
  if (!locked.transfer.submittedAt) return refuse('transfer_not_submitted')
  await applyReport(locked, { ...NO_NOTICE, ...bankNotice }, context)
  return transferResponse(locked.transfer)
}

const NO_NOTICE: BankNotice = { notice: null, reasonCode: null, payeeCheck: null }

export const simulateBankNotices = bindHandlers(simulateSepaApi, {
  simulateSettle: ({ body: { transferId } }, context) =>
    simulateNotice(transferId, { notice: 'settled' }, context),
  simulateReject: ({ body: { transferId, reasonCode } }, context) =>
    simulateNotice(transferId, { notice: 'rejected', reasonCode }, context),
  simulateReturn: ({ body: { transferId, reasonCode } }, context) =>
    simulateNotice(transferId, { notice: 'returned', reasonCode }, context),
  simulateVerify: ({ body: { transferId, status, suggestedName } }, context) =>
    simulateNotice(transferId, { payeeCheck: payeeCheckFromCode(status, suggestedName) }, context),
})
