import { type IntentRow, openPayments, type Payments } from '../../../control/intents/index.ts'
import type { Reason } from '../../../iso20022/reason-codes.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { type Book, openBook } from '../../../money/ledger/index.ts'
import {
  beginTransaction,
  declineTransaction,
  moveTransaction,
  type Transaction,
  transactionOf,
} from '../../../money/transactions/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import { after, days, minutes } from '../../../values/clock.ts'
import { transferEvent } from '../events.ts'
import { addToDay, lockDay } from '../limits/limits.ts'
import { recallProcess, transferProcess } from '../process.ts'
import type { sepaTransferEvents, transferEvents } from '../schemas.ts'
import { Transfer, transferMachine } from '../transfer.ts'
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

type StepContext = Pick<
  Context<never, typeof sepaTransferEvents>,
  'records' | 'sql' | 'tenant' | 'now' | 'emit' | 'wake'
>

const causeOf = ({ id }: Transfer) => ({ type: 'transfer', id })

interface LockedRows {
  readonly transfer: Transfer
  readonly wallet: WalletRow
  readonly book: Book
  readonly transaction: Transaction | null
  readonly payments: Payments
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

  constructor({ transfer, wallet, book, transaction, payments }: LockedRows, context: StepContext) {
    this.transfer = transfer
    this.wallet = wallet
    this.#book = book
    this.#transaction = transaction
    this.#payments = payments
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
    members: Partial<Pick<Transfer, 'reason' | 'recall' | 'dueAt' | 'inquiries' | 'payeeConfirmedAt'>>,
    comment: string | null = null,
  ): boolean {
    Object.assign(this.transfer, members)
    return this.#emit('payment.updated', comment)
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
    const [kind, place] = this.#isOpen()
      ? (['sepa_return', this.wallet.id] as const)
      : (['unmatched_credit', 'suspense'] as const)
    this.#book.move(kind, 'bank', place, this.transfer.amountEuros, causeOf(this.transfer))
    this.#reverseSpend()
    this.#moveTransaction('refunded')
    return this.#finish('transfer.returned', this.#reasonFor(reason))
  }

  /** Cancels a transfer that is not submitted. */
  async cancel(reason: Reason | null): Promise<boolean> {
    if (this.transfer.kind !== 'sepa' || !transferMachine.move(this.transfer, 'cancelled')) return false
    this.#book.release(causeOf(this.transfer))
    if (this.#intent) this.#payments.cancel(this.#intent, this.#context)
    await this.#giveBackDay()
    return this.#finish('transfer.failed', reason)
  }

  /** Writes the postings and the intent. */
  async post(): Promise<void> {
    const { sql } = this.#context
    await Promise.all([this.#payments.write(sql), this.#book.post(sql)])
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

  /** Money that has come back does not count towards the agent's limits. */
  #reverseSpend(): void {
    if (this.#intent) this.#payments.reverse(this.#intent, this.transfer.amountEuros)
  }

  #isOpen = (): boolean => this.wallet.status !== 'closed'

  /** Money that comes back to a closed wallet cannot be refused: it is kept in suspense, and the reason says so. */
  #reasonFor = ({ code, message }: Reason): Reason => ({
    code,
    message: this.#isOpen() ? message : `${message} The wallet is closed: the money is kept in suspense.`,
  })

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

/** Locks a transfer and all that its next step may change, in the global order; null if there is no such transfer. */
export async function lockTransfer(id: string, context: StepContext): Promise<SepaTransfer | null> {
  const { records, sql, tenant } = context
  // Read without a lock for the ids that never change: the accounts are locked before the transfer.
  const unlocked = await records.findOne(Transfer, { id })
  if (!unlocked) return null
  const { intentId, fromWalletId, countedOn } = unlocked
  const payments = await openPayments(sql, context, intentId ? [intentId] : [])
  const [book, , , transfer, transaction, wallets] = await Promise.all([
    openBook(sql, context, {
      wallets: [fromWalletId],
      others: ['bank', 'clearing_sepa', 'suspense'],
      holds: [causeOf(unlocked), ...payments.holds],
    }),
    countedOn && lockDay(sql, tenant, countedOn),
    payments.lock(sql),
    records.lock(Transfer, id),
    transactionOf(context, id),
    walletsById(sql, tenant, [fromWalletId]),
  ])
  const wallet = wallets.get(fromWalletId)
  if (!transfer || !wallet) throw new Error(`${id}: a transfer without its wallet`)
  return new SepaTransfer({ transfer, wallet, book, transaction, payments }, context)
}
