import type { IntentRow, Payments } from '../../../control/intents/index.ts'
import type { ReportedPayeeCheck } from '../../../iso20022/payment-notice.ts'
import type { Reason } from '../../../iso20022/reason-codes.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { Book } from '../../../money/ledger/index.ts'
import type { Refunds } from '../../../money/refunds/index.ts'
import {
  beginTransaction,
  declineTransaction,
  moveTransaction,
  type Transaction,
} from '../../../money/transactions/index.ts'
import type { WalletRow } from '../../../money/wallets/index.ts'
import { after, days, minutes } from '../../../values/clock.ts'
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

export const causeOf = ({ id }: Transfer) => ({ type: 'transfer', id })

interface LockedRows {
  readonly transfer: Transfer
  readonly wallet: WalletRow
  readonly book: Book
  readonly transaction: Transaction | null
  readonly payments: Payments
  readonly refunds: Refunds
  readonly ownersWalletId: string | null
}

/** A locked transfer by SEPA. Only its methods change one: each step is one state, one posting and one event. */
export class SepaTransfer {
  readonly transfer: Transfer
  readonly wallet: WalletRow
  readonly #book: Book
  readonly #context: StepContext
  /** Null until the transfer is submitted. */
  #transaction: Transaction | null
  /** Undefined if the transfer pays no intent. */
  readonly #intent: IntentRow | undefined
  readonly #payments: Payments
  readonly #refunds: Refunds
  /** Where money comes back to if the wallet is closed; null where it is not, or where the owner has none. */
  readonly #ownersWalletId: string | null

  constructor(
    { transfer, wallet, book, transaction, payments, refunds, ownersWalletId }: LockedRows,
    context: StepContext,
  ) {
    this.transfer = transfer
    this.wallet = wallet
    this.#book = book
    this.#transaction = transaction
    this.#payments = payments
    this.#refunds = refunds
    this.#ownersWalletId = ownersWalletId
    this.#intent = payments.find(transfer.intentId)
    this.#context = context
  }

  isSubmitted(): boolean {
    return this.transfer.submittedAt !== null
  }

  /** Why the transfer must not be submitted any more, though it could be when it was made; undefined if it may. */
  blockReason(): Reason | undefined {
    const blocker = this.#intent && this.#payments.submissionBlockerOf(this.#intent)
    return this.wallet.status === 'frozen' ? blockReasons.wallet_frozen : blocker && blockReasons[blocker]
  }

  /** The money leaves the wallet: from now on the rail says how the transfer ends. */
  submit(): boolean {
    const { transfer } = this
    const { now } = this.#context
    if (!transfer.isReady() || !transferMachine.move(transfer, 'submitted')) return false
    Object.assign(transfer, { submittedAt: now, dueAt: after(now, inquiryPause(0)) })
    this.#transaction = beginTransaction(transactionFor(transfer, this.#intent), this.#context)
    transfer.transactionId = this.#transaction.id
    this.#sendMoney(this.#transaction.id)
    this.#moveTransaction('settlement')
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
    this.#book.move('sepa_settle', 'clearing_sepa', 'bank', transfer.amountEuros, causeOf(transfer))
    this.#moveTransaction('settled')
    this.#moveTransaction('completed')
    return this.#emit('transfer.completed')
  }

  /** The rail has not paid: the money goes back to the wallet. */
  async reject(reason: Reason): Promise<boolean> {
    if (!transferMachine.move(this.transfer, 'rejected')) return false
    const [kind, place] = this.#isOpen()
      ? (['sepa_undo', this.wallet.id] as const)
      : (['sepa_undo_unmatched', 'suspense'] as const)
    this.#book.move(kind, 'clearing_sepa', place, this.transfer.amountEuros, causeOf(this.transfer))
    await this.#giveBackDay()
    this.#reverseSpend()
    if (this.#transaction) declineTransaction(this.#transaction, reason.message, this.#context)
    return this.#finish('transfer.failed', this.#reasonFor(reason))
  }

  /** The payee's bank sends the money back. A settlement that was not reported before is booked first. */
  sendBack(reason: Reason): boolean {
    this.settle()
    if (!transferMachine.move(this.transfer, 'returned')) return false
    const { amountEuros, agentId, id } = this.transfer
    const walletId = this.#isOpen() ? this.wallet.id : this.#ownersWalletId
    const [kind, place] = walletId
      ? (['sepa_return', walletId] as const)
      : (['unmatched_credit', 'suspense'] as const)
    this.#book.move(kind, 'bank', place, amountEuros, causeOf(this.transfer))
    const source = { type: 'transfer', id }
    const arrival = { agentId, walletId, way: 'sepa', origin: 'bank', amountEuros, source } as const
    this.#refunds.arrive(this.#transaction ?? undefined, arrival, this.#context.emit)
    if (this.#intent) this.#payments.giveBack(this.#intent, amountEuros)
    return this.#finish('transfer.returned', this.#reasonFor(reason, walletId))
  }

  /** Cancels a transfer that is not submitted. */
  async cancel(reason: Reason | null): Promise<boolean> {
    if (this.transfer.kind !== 'sepa' || !transferMachine.move(this.transfer, 'cancelled')) return false
    this.#book.release(causeOf(this.transfer))
    if (this.#intent) this.#payments.cancel(this.#intent, this.#context)
    await this.#giveBackDay()
    return this.#finish('transfer.failed', reason)
  }

  /** Writes the postings, the intent and what has come back. */
  async post(): Promise<void> {
    const { sql } = this.#context
    await Promise.all([this.#payments.write(sql), this.#refunds.write(sql), this.#book.post(sql)])
  }

  /** Sends the money that is held for the transfer, or for the intent that it pays. */
  #sendMoney(transactionId: string): void {
    const { amountEuros } = this.transfer
    const cause = causeOf(this.transfer)
    const kind = 'sepa_submit'
    const to = 'clearing_sepa'
    if (this.#intent)
      this.#payments.complete(
        this.#intent,
        { kind, to, amountEuros, cause, transactionId },
        this.#book,
        this.#context,
      )
    else this.#book.capture(kind, cause, to, amountEuros, cause)
  }

  /** Money that was not paid after all does not count towards the agent's limits. */
  #reverseSpend(): void {
    if (this.#intent) this.#payments.reverse(this.#intent, this.transfer.amountEuros)
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

  #moveTransaction(step: Parameters<typeof moveTransaction>[1]): void {
    if (this.#transaction) moveTransaction(this.#transaction, step, this.#context)
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

const transactionFor = (
  { id, fromWalletId, agentId, intentId, amountEuros, payee }: Transfer,
  intent: IntentRow | undefined,
) =>
  ({
    type: 'transfer',
    transferId: id,
    walletId: fromWalletId,
    agentId,
    intentId,
    amountEuros,
    runId: intent?.runId ?? null,
    merchant: String(payee?.name),
    country: payee?.iban.slice(0, 2) ?? null,
  }) as const
