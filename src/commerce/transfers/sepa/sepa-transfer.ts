import type { IntentRow } from '../../../control/intents/index.ts'
import {
  applyFact,
  type PaymentBatch,
  type PaymentFact,
  refundWallet,
} from '../../../control/payments/index.ts'
import type { ReportedPayeeCheck } from '../../../iso20022/payment-notice.ts'
import type { Reason } from '../../../iso20022/reason-codes.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { insertTransactions } from '../../../money/transactions/index.ts'
import type { WalletRow } from '../../../money/wallets/index.ts'
import { after, days, minutes } from '../../../values/clock.ts'
import { sepaChannel, sepaPayment, type TransferPayment, transferEvidence } from '../channels.ts'
import { transferEvent } from '../events.ts'
import { addToDay } from '../limits/limits.ts'
import { recallProcess, transferProcess } from '../process.ts'
import type { sepaTransferEvents, transferEvents } from '../schemas.ts'
import { isNewDoubt, type Transfer, transferMachine } from '../transfer.ts'
import { blockReasons } from './block-reasons.ts'

/** After this the sweep takes the next step, should the process not have taken it. */
export const PROCESS_GRACE_MS = minutes(1)
/** A transfer whose payee nobody has confirmed is cancelled after this. */
export const CONFIRM_WITHIN_MS = days(7)
/** The scheme's time limit of an instant payment. */
export const INSTANT_MS = 10_000

/** The pause after each inquiry; after the last of these, a day. */
const INQUIRY_PAUSES_MS = [INSTANT_MS, minutes(1), minutes(10), minutes(60), minutes(360)]
export const inquiryPause = (inquiries: number): number => INQUIRY_PAUSES_MS[inquiries] ?? days(1)

export type StepContext = Pick<
  Context<never, typeof sepaTransferEvents>,
  'records' | 'sql' | 'tenant' | 'now' | 'emit' | 'wake'
>

interface LockedRows {
  readonly transfer: Transfer
  readonly wallet: WalletRow
  readonly batch: PaymentBatch
}

/** A locked transfer by SEPA. Only its methods change one: each step is a state, a fact of its payment, and an event. */
export class SepaTransfer {
  readonly transfer: Transfer
  readonly wallet: WalletRow
  readonly #batch: PaymentBatch
  readonly #payment: TransferPayment
  readonly #context: StepContext
  /** Undefined if the transfer pays no intent. */
  readonly #intent: IntentRow | undefined

  constructor({ transfer, wallet, batch }: LockedRows, context: StepContext) {
    this.transfer = transfer
    this.wallet = wallet
    this.#batch = batch
    this.#payment = sepaPayment(transfer)
    this.#intent = batch.payments.find(transfer.intentId)
    this.#context = context
  }

  isSubmitted(): boolean {
    return this.transfer.submittedAt !== null
  }

  /** Why the transfer must not be submitted any more, though it could be when it was made; undefined if it may. */
  blockReason(): Reason | undefined {
    const blocker = this.#intent && this.#batch.payments.submissionBlockerOf(this.#intent)
    return this.wallet.status === 'frozen' ? blockReasons.wallet_frozen : blocker && blockReasons[blocker]
  }

  /** The money leaves the wallet: from now on the rail says how the transfer ends. */
  submit(): boolean {
    const { transfer } = this
    const { now } = this.#context
    if (!transfer.isReady() || !transferMachine.move(transfer, 'submitted')) return false
    Object.assign(transfer, { submittedAt: now, dueAt: after(now, inquiryPause(0)) })
    this.#apply({ type: 'captured', cents: transfer.amountEuros })
    return this.#emit('payment.updated')
  }

  /** Changes the transfer without changing its state. */
  update(
    members: Partial<
      Pick<Transfer, 'reason' | 'recall' | 'dueAt' | 'inquiries' | 'payeeCheck' | 'payeeConfirmedAt'>
    >,
    comment: string | null = null,
  ): boolean {
    Object.assign(this.transfer, members)
    return this.#emit('payment.updated', comment)
  }

  /** The bank has verified the payee after it got the order. What a person has confirmed need not be confirmed again. */
  checkPayee(check: ReportedPayeeCheck): boolean {
    const { payeeCheck, payeeConfirmedAt } = this.transfer
    if (!isNewDoubt(check, payeeCheck)) return false
    const isAsConfirmed = check.result === 'match' || check.result === payeeCheck?.result
    return this.update({
      payeeCheck: { ...check, at: this.#context.now.toISOString() },
      payeeConfirmedAt: isAsConfirmed ? payeeConfirmedAt : null,
    })
  }

  settle(): boolean {
    const { transfer } = this
    if (!transferMachine.move(transfer, 'completed')) return false
    const { now } = this.#context
    const isAskedBack = transfer.recall?.status === 'requested'
    Object.assign(transfer, { completedAt: now, reason: null, dueAt: isAskedBack ? transfer.dueAt : null })
    this.#apply({ type: 'cleared', id: transfer.id, cents: transfer.amountEuros, final: true })
    return this.#emit('transfer.completed')
  }

  /** The rail has not paid: the money goes back to the wallet. */
  async reject(reason: Reason): Promise<boolean> {
    if (!transferMachine.move(this.transfer, 'rejected')) return false
    this.#payment.declineReason = reason.message
    this.#apply({ type: 'reversed', id: this.transfer.id, cents: null })
    await this.#giveBackDay()
    return this.#finish('transfer.failed', this.#reasonFor(reason))
  }

  /** The payee's bank sends the money back. A settlement that was not reported before is booked first. */
  sendBack(reason: Reason): boolean {
    this.settle()
    if (!transferMachine.move(this.transfer, 'returned')) return false
    const { id, amountEuros } = this.transfer
    const walletId = refundWallet(this.#payment, this.#batch)
    this.#apply({ type: 'refunded', id, cents: amountEuros })
    return this.#finish('transfer.returned', this.#reasonFor(reason, walletId))
  }

  /** Cancels a transfer that is not submitted. */
  async cancel(reason: Reason | null): Promise<boolean> {
    if (this.transfer.kind !== 'sepa' || !transferMachine.move(this.transfer, 'cancelled')) return false
    this.#apply({ type: 'reversed', id: this.transfer.id, cents: null })
    await this.#giveBackDay()
    return this.#finish('transfer.failed', reason)
  }

  /** Writes the postings, the intent, the transaction and the refund. The record and a known transaction are flushed. */
  async post(): Promise<void> {
    const { sql } = this.#context
    const { payments, refunds, book, changed } = this.#batch
    await Promise.all([
      payments.write(sql),
      refunds.write(sql),
      book.post(sql),
      insertTransactions(sql, [...changed.newTransactions]),
    ])
  }

  #apply(fact: PaymentFact): void {
    applyFact(this.#payment, fact, sepaChannel, transferEvidence(this.transfer), this.#batch, this.#context)
    this.transfer.transactionId = this.#payment.transactionId
  }

  #isOpen = (): boolean => this.wallet.status !== 'closed'

  /** Money that comes back to a closed wallet cannot be refused: the reason says where it is. */
  #reasonFor = ({ code, message }: Reason, walletId: string | null = null): Reason => {
    const place = walletId ? `in the wallet ${walletId}` : 'kept in suspense'
    return {
      code,
      message: this.#isOpen() ? message : `${message} The wallet is closed: the money is ${place}.`,
    }
  }

  /** Gives the amount back to the limit of the day on which the transfer was made. */
  #giveBackDay(): Promise<void> {
    const { sql, tenant } = this.#context
    return addToDay(sql, tenant, String(this.transfer.countedOn), -this.transfer.amountEuros)
  }

  #finish(event: keyof typeof transferEvents, reason: Reason | null): boolean {
    Object.assign(this.transfer, { reason, dueAt: null })
    return this.#emit(event)
  }

  #emit(event: keyof typeof transferEvents, comment: string | null = null): true {
    const { emit, wake } = this.#context
    emit(event, transferEvent(this.transfer, comment ?? undefined))
    wake(this.transfer.recall?.status === 'requested' ? recallProcess : transferProcess, this.transfer)
    return true
  }
}
