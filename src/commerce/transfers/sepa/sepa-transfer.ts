import { type IntentRow, openPayments, type Payments } from '../../../control/intents/index.ts'
import type { Reason } from '../../../iso20022/reason-codes.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { lock } from '../../../kernel/database/entity.ts'
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
import { lockDay, takeOfDay } from '../limits/limits.ts'
import { recallProcess, transferProcess } from '../process.ts'
import type { courseEvents, transferEvents } from '../schemas.ts'
import { Transfer, transferMachine } from '../transfer.ts'
import { stops } from './block-reasons.ts'

/** What its process has not done by then is done without it. */
export const UNATTENDED = minutes(1)
/** So long a payee waits to be confirmed. */
export const CONFIRM_WITHIN = days(7)
/** An instant payment is through in this time, or nobody knows: the rule of the scheme. */
export const INSTANT = 10_000

/** After so many inquiries the next one waits so long; from then on a day. */
const PAUSES = [INSTANT, minutes(1), minutes(10), minutes(60), minutes(360)]
export const pauseAfter = (inquiries: number): number => PAUSES[inquiries] ?? days(1)

type Doing = Pick<Context<never, typeof courseEvents>, 'em' | 'sql' | 'tenant' | 'now' | 'emit' | 'wake'>

const causeOf = ({ id }: Transfer) => ({ type: 'transfer', id })

interface Parts {
  readonly transfer: Transfer
  readonly wallet: WalletRow
  readonly book: Book
  readonly payment: Transaction | null
  readonly payments: Payments
}

/** Out of here nothing of a transfer by SEPA is changed: each step is one posting, one state and one event. */
export class Course {
  readonly transfer: Transfer
  readonly wallet: WalletRow
  readonly #book: Book
  readonly #doing: Doing
  /** What has left with it; null before it has. */
  #payment: Transaction | null
  /** What it is paid for; undefined where it is for no intent. */
  readonly #intent: IntentRow | undefined
  readonly #payments: Payments

  constructor({ transfer, wallet, book, payment, payments }: Parts, doing: Doing) {
    this.transfer = transfer
    this.wallet = wallet
    this.#book = book
    this.#payment = payment
    this.#payments = payments
    this.#intent = payments.find(transfer.intentId)
    this.#doing = doing
  }

  /** The rail has it, or has had it. */
  isAtTheRail(): boolean {
    return this.transfer.submittedAt !== null
  }

  /** What has come between its making and its leaving. */
  stop(): Reason | undefined {
    const bar = this.#intent && this.#payments.barTo(this.#intent)
    return this.wallet.status === 'frozen' ? stops.wallet_frozen : bar && stops[bar]
  }

  /** Leaves: from now on it is the rail that says how it ends. */
  submit(): boolean {
    const { transfer } = this
    const { now } = this.#doing
    if (!transfer.isReady() || !transferMachine.move(transfer, 'submitted')) return false
    Object.assign(transfer, { submittedAt: now, dueAt: after(now, pauseAfter(0)) })
    this.#payment = beginTransaction(paymentFor(transfer, this.#intent), this.#doing)
    transfer.transactionId = this.#payment.id
    this.#leave(this.#payment.id)
    this.#pay('settlement')
    return this.#tell('payment.updated')
  }

  /** Something about it is different, and its state is the same. */
  update(
    members: Partial<Pick<Transfer, 'reason' | 'recall' | 'dueAt' | 'inquiries' | 'payeeConfirmedAt'>>,
    words: string | null = null,
  ): boolean {
    Object.assign(this.transfer, members)
    return this.#tell('payment.updated', words)
  }

  settle(): boolean {
    const { transfer } = this
    if (!transferMachine.move(transfer, 'completed')) return false
    const { now } = this.#doing
    const isAskedBack = transfer.recall?.status === 'requested'
    Object.assign(transfer, { completedAt: now, reason: null, dueAt: isAskedBack ? transfer.dueAt : null })
    this.#book.move('sepa_settle', 'clearing_sepa', 'bank', transfer.amountEuros, causeOf(transfer))
    this.#pay('settled')
    this.#pay('completed')
    return this.#tell('transfer.completed')
  }

  /** It has come to nothing at the rail: the money goes back to where it was. */
  async reject(reason: Reason): Promise<boolean> {
    if (!transferMachine.move(this.transfer, 'rejected')) return false
    const [kind, place] = this.#isOpen()
      ? (['sepa_undo', this.wallet.id] as const)
      : (['sepa_undo_unmatched', 'suspense'] as const)
    this.#book.move(kind, 'clearing_sepa', place, this.transfer.amountEuros, causeOf(this.transfer))
    await this.#freeDay()
    this.#uncount()
    if (this.#payment) declineTransaction(this.#payment, reason.message, this.#doing)
    return this.#end('transfer.failed', this.#whereTo(reason))
  }

  /** The payee's bank sends it back: of what it had not told that it has it, that is told as well. */
  sendBack(reason: Reason): boolean {
    this.settle()
    if (!transferMachine.move(this.transfer, 'returned')) return false
    const [kind, place] = this.#isOpen()
      ? (['sepa_return', this.wallet.id] as const)
      : (['unmatched_credit', 'suspense'] as const)
    this.#book.move(kind, 'bank', place, this.transfer.amountEuros, causeOf(this.transfer))
    this.#uncount()
    this.#pay('refunded')
    return this.#end('transfer.returned', this.#whereTo(reason))
  }

  /** Before it has left. */
  async cancel(reason: Reason | null): Promise<boolean> {
    if (this.transfer.kind !== 'sepa' || !transferMachine.move(this.transfer, 'cancelled')) return false
    this.#book.release(causeOf(this.transfer))
    if (this.#intent) this.#payments.end(this.#intent, this.#doing)
    await this.#freeDay()
    return this.#end('transfer.failed', reason)
  }

  /** Writes what has been posted. */
  async post(): Promise<void> {
    await this.#payments.write(this.#doing.sql)
    await this.#book.post(this.#doing.sql)
  }

  /** Out of what is held for it, or for the intent that it pays. */
  #leave(transactionId: string): void {
    const [kind, to, cause] = ['sepa_submit', 'clearing_sepa', causeOf(this.transfer)] as const
    const { amountEuros } = this.transfer
    if (this.#intent)
      this.#payments.complete(
        this.#intent,
        { kind, to, amountEuros, cause, transactionId },
        this.#book,
        this.#doing,
      )
    else this.#book.capture(kind, cause, to, amountEuros, cause)
  }

  /** What has come back counts towards no limit of the agent any more. */
  #uncount(): void {
    if (this.#intent) this.#payments.undo(this.#intent, this.transfer.amountEuros)
  }

  #isOpen = (): boolean => this.wallet.status !== 'closed'

  /** Facts are never refused: what comes back to a closed wallet is kept where an owner can find it. */
  #whereTo = ({ code, message }: Reason): Reason => ({
    code,
    message: this.#isOpen() ? message : `${message} The wallet is closed: the money is kept in suspense.`,
  })

  /** Of the day from which it was taken, for nothing has left on it. */
  #freeDay(): Promise<void> {
    const { sql, tenant } = this.#doing
    return takeOfDay(sql, tenant, String(this.transfer.countedOn), -this.transfer.amountEuros)
  }

  #pay(step: Parameters<typeof moveTransaction>[1]): void {
    if (this.#payment) moveTransaction(this.#payment, step, this.#doing)
  }

  #end(event: keyof typeof transferEvents, reason: Reason | null): boolean {
    Object.assign(this.transfer, { reason, dueAt: null })
    return this.#tell(event)
  }

  #tell(event: keyof typeof transferEvents, words: string | null = null): true {
    const { emit, wake } = this.#doing
    emit(event, transferEvent(this.transfer, words ?? undefined))
    wake(this.transfer.recall?.status === 'requested' ? recallProcess : transferProcess, this.transfer)
    return true
  }
}

const paymentFor = (
  { id, fromWalletId, agentId, intentId, amountEuros, payee }: Transfer,
  intent: IntentRow | undefined,
) =>
  ({
    type: 'transfer',
    transferId: id,
    walletId: fromWalletId,
    ...{ agentId, intentId, amountEuros, runId: intent?.runId ?? null },
    merchant: String(payee?.name),
    country: payee?.iban.slice(0, 2) ?? null,
  }) as const

/** A transfer by SEPA with all that its next step may touch, locked in the global order; null where there is none. */
export async function takeUp(id: string, doing: Doing): Promise<Course | null> {
  const { em, sql, tenant } = doing
  const seen = await em.findOne(Transfer, { id })
  if (!seen) return null
  const payments = await openPayments(sql, doing, seen.intentId ? [seen.intentId] : [])
  const book = await openBook(sql, doing, {
    wallets: [seen.fromWalletId],
    others: ['bank', 'clearing_sepa', 'suspense'],
    holds: [causeOf(seen), ...payments.holds],
  })
  if (seen.countedOn) await lockDay(sql, tenant, seen.countedOn)
  await payments.lock(sql)
  const transfer = await lock(em, Transfer, id)
  const wallet = (await walletsById(sql, tenant, [seen.fromWalletId])).get(seen.fromWalletId)
  if (!transfer || !wallet) throw new Error(`${id}: a transfer without its wallet`)
  const payment = transfer.transactionId ? await transactionOf(doing, id) : null
  return new Course({ transfer, wallet, book, payment, payments }, doing)
}

/** While it is under way: nobody knows whether it has been paid. */
export const INDETERMINATE: Reason = {
  code: 'indeterminate',
  message: 'The bank has not said what became of it. It is asked again, and nothing is paid twice.',
}
