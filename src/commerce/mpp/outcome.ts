import type { z } from 'zod'
import { chargeEvents, mppTokenEvents, revokeMppToken } from '../../cards/agent-credentials/index.ts'
import {
  type BegunPayment,
  type CardBatch,
  isTokenPaymentConfirmed,
  loadTokenPayments,
  settleTokenPayment,
  tokenPaymentEvents,
  writeCardBatch,
} from '../../cards/authorizations/index.ts'
import { reactionToAll } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { type Process, workflowIdOf } from '../../kernel/contract/process.ts'
import { after } from '../../values/clock.ts'
import type { mppApi } from './api.ts'
import {
  credentialEvent,
  MppCredential,
  mppCredentialMachine,
  OPEN_FOR_MS,
  type Witness,
} from './credential.ts'
import { mppProcess, takenBackProcess } from './process.ts'
import { outcomeEvents } from './schemas.ts'

/** The events of everything that may end a machine payment. */
export type OutcomeEvents = typeof outcomeEvents & typeof mppTokenEvents & typeof tokenPaymentEvents

export type OutcomeContext = Pick<
  Context<never, OutcomeEvents>,
  'records' | 'sql' | 'sendAlong' | 'tenant' | 'now' | 'emit' | 'wake'
>

/** A machine payment whose payment is locked, and what says that it is paid or not. */
export class OpenPayment {
  readonly credential: MppCredential
  readonly #batch: CardBatch
  readonly #context: OutcomeContext

  constructor(credential: MppCredential, batch: CardBatch, context: OutcomeContext) {
    this.credential = credential
    this.#batch = batch
    this.#context = context
  }

  /** Whether the merchant or the owner has said that it was paid: what the network takes back does not undo their word. */
  isConfirmed(): boolean {
    return isTokenPaymentConfirmed(this.credential.id, this.#batch)
  }

  /** Captures the money, once, whoever else has said so before. */
  pay(by: Witness): void {
    const { id } = this.credential
    const transactionId = settleTokenPayment(id, 'paid', this.#batch, this.#context)
    consume(this.credential, transactionId, by, this.#context)
    this.#write()
  }

  /** Nobody knows what became of it: the money stays held. The network may have said it before. */
  async leaveOpen(note: string): Promise<void> {
    const { credential } = this
    if (credential.status === 'consumed' || credential.status === 'void') return
    credential.note = note
    if (!mppCredentialMachine.move(credential, 'indeterminate')) return
    credential.dueAt = after(credential.createdAt, OPEN_FOR_MS)
    this.#context.emit('mpp.credential.indeterminate', credentialEvent(credential))
    if (credential.transactionId !== null)
      consume(credential, credential.transactionId, 'network', this.#context)
    else if (credential.declinedAt !== null) await this.giveUp('network')
    else look(credential, this.#context)
  }

  /** Not paid: the token is revoked, and the intent is free. False where the network says otherwise. */
  async giveUp(by: Witness): Promise<boolean> {
    const { credential } = this
    const { now, emit } = this.#context
    const { id } = credential
    const transactionId = settleTokenPayment(id, 'not_paid', this.#batch, this.#context)
    this.#write()
    if (transactionId !== null && credential.declinedAt === null) {
      consume(credential, transactionId, 'network', this.#context)
      return false
    }
    const runs = credential.status === 'consumed' ? takenBackProcess : mppProcess
    if (!mppCredentialMachine.move(credential, 'void')) return false
    await revokeMppToken(credential.id, this.#context)
    // The processor is still to be told that the token is over.
    Object.assign(credential, { outcomeBy: by, endedAt: now, dueAt: now })
    emit('mpp.credential.void', credentialEvent(credential))
    look(credential, this.#context, runs)
    return true
  }

  #write(): void {
    const { sql, sendAlong } = this.#context
    sendAlong(writeCardBatch(this.#batch, sql))
  }
}

/** What the outcome of one payment of a batch changes beside the batch. */
type PaidContext = Pick<OutcomeContext, 'now' | 'emit' | 'wake'>

/** Ends a payment that is paid; false where it has ended before. */
export function consume(
  credential: MppCredential,
  transactionId: string | null,
  by: Witness,
  context: PaidContext,
): boolean {
  const { now, emit, wake } = context
  if (transactionId === null) throw new Error(`${credential.id}: paid without a transaction`)
  if (!mppCredentialMachine.move(credential, 'consumed')) return false
  Object.assign(credential, { transactionId, outcomeBy: by, endedAt: now, dueAt: null })
  const data = credentialEvent(credential)
  emit('mpp.credential.consumed', data)
  emit('mpp.transaction.completed', { ...data, transactionId })
  if (credential.workflowId !== null) wake(mppProcess, credential)
  return true
}

/** A record whose outcome is open has a run, also where those that are paid at once have none. */
function look(
  credential: MppCredential,
  { wake }: Pick<OutcomeContext, 'wake'>,
  process: Process = mppProcess,
): void {
  credential.workflowId ??= workflowIdOf(process, credential.id)
  wake(process, credential)
}

/** A machine payment, and the payment of its card that was begun with it. */
interface SentPayment {
  readonly id: string
  readonly begun: BegunPayment
}

/**
 * Machine payments of a batch, locked with all that their outcomes may change. They are locked right behind their agents,
 * without which nobody locks more than one of them.
 */
export async function lockPayments(
  sent: readonly SentPayment[],
  { sql, records, tenant, now }: Pick<OutcomeContext, 'sql' | 'records' | 'tenant' | 'now'>,
) {
  const ids = sent.map(({ id }) => id)
  const loading = loadTokenPayments(sql, { tenant, now }, { begun: sent.map(({ begun }) => begun) })
  const finding = records.find(MppCredential, { id: { $in: ids } }, { orderBy: { id: 'asc' }, lock: true })
  // Awaited last: its failure must not end the transaction while more is sent.
  finding.catch(() => undefined)
  const batch = await loading
  const credentials = await finding
  return { batch, credentials: new Map(credentials.map(credential => [credential.id, credential])) }
}

/** Locks a machine payment with all that its outcome may change, in the global order; null if there is none. */
export async function lockPayment(id: string, context: OutcomeContext): Promise<OpenPayment | null> {
  const batch = await loadTokenPayments(context.sql, context, { mppCredentialIds: [id] })
  const credential = await context.records.lock(MppCredential, id)
  return credential && new OpenPayment(credential, batch, context)
}

type Charge = z.output<(typeof chargeEvents)['agent_credential.charged']>

const emits = { ...tokenPaymentEvents, ...mppTokenEvents, ...outcomeEvents }

/** The machine payments among payments by network tokens, each with what was said of it last. */
const machinePayments = (events: readonly Charge[]): [string, Charge][] =>
  [
    ...new Map(
      events.flatMap(event => (event.mppCredentialId ? [[event.mppCredentialId, event] as const] : [])),
    ),
  ]
    .map(([id, event]): [string, Charge] => [id, event])
    .sort(([one], [other]) => (one < other ? -1 : 1))

/**
 * The card network has authorized or cleared a payment: an open outcome is known then. While the merchant is still to answer
 * it is only noted, for the authorization may be taken back before that.
 */
async function noteCharge(id: string, { transactionId }: Charge, context: OutcomeContext): Promise<void> {
  const credential = await context.records.lock(MppCredential, id)
  if (!credential || transactionId === null) return
  Object.assign(credential, { transactionId, declinedAt: null })
  if (credential.status !== 'sent') consume(credential, transactionId, 'network', context)
}

/**
 * The network has declined, or taken back what it authorized. Where a receipt or the owner has said that it was paid, it
 * stays so: its transaction tells the rest.
 */
async function noteDecline(id: string, context: OutcomeContext): Promise<void> {
  const payment = await lockPayment(id, context)
  if (!payment || payment.isConfirmed() || payment.credential.status === 'void') return
  const { credential } = payment
  Object.assign(credential, { transactionId: null, declinedAt: context.now })
  if (credential.status !== 'sent') await payment.giveUp('network')
}

export const networkReactions = {
  'agent_credential.charged': reactionToAll(
    chargeEvents['agent_credential.charged'],
    emits,
    async (events, context) => {
      for (const [id, event] of machinePayments(events)) await noteCharge(id, event, context)
    },
  ),
  'agent_credential.declined': reactionToAll(
    chargeEvents['agent_credential.declined'],
    emits,
    async (events, context) => {
      for (const [id] of machinePayments(events)) await noteDecline(id, context)
    },
  ),
}

/** The owner's word about an outcome that nobody knows: a key's, or an operator's by a signal. */
export const resolve: HandlerOf<typeof mppApi.resolve> = async ({ params, body }, context) => {
  const { actor, refuse } = context
  const payment = await lockPayment(params.id, context)
  if (!payment) return refuse('credential_not_found')
  const { credential } = payment
  if (credential.status === 'sent') return refuse('credential_under_way')
  const isOver = credential.status === 'void' || credential.status === 'consumed'
  if (isOver) return refuse('credential_over', `Its outcome is known already: it is ${credential.status}.`)
  const by: Witness = actor.type === 'operator' ? 'operator' : 'key'
  if (body.comment !== undefined) credential.note = body.comment
  if (body.outcome === 'paid') payment.pay(by)
  else if (!(await payment.giveUp(by))) return refuse('network_says_paid')
  return credential
}
