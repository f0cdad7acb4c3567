import type { z } from 'zod'
import {
  agentCredentialChargeEvents,
  mppTokenEvents,
  recordTokenDeletion,
  revokeMppToken,
  tokenToDelete,
} from '../../cards/agent-credentials/index.ts'
import {
  applyTokenPaymentOutcome,
  type CardBatch,
  isApprovedByNetwork,
  loadTokenPayments,
  tokenPaymentAuthorization,
  tokenPaymentEvents,
  writeCardBatch,
} from '../../cards/authorizations/index.ts'
import { reactionToAll } from '../../kernel/contract/area.ts'
import type { EmitContext, WriteContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { type DurableProcess, workflowIdOf } from '../../kernel/contract/process.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import {
  CALL_DONE,
  type CardProcessor,
  isProcessorFailure,
  type ProcessorCall,
  type ProcessorCallDone,
  type ProcessorFailure,
  type SharedTokenAction,
} from '../../ports/card-processor.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { machinePaymentOutcomeEvents, type mppApi } from './api.ts'
import {
  awaitsPerson,
  INDETERMINATE_TTL_MS,
  isUnshared,
  MppCredential,
  type MppStatus,
  mppCredentialEvent,
  mppCredentialMachine,
  type OrderedToken,
  type OutcomeWitness,
} from './credential.ts'
import type { MachinePaymentProblem } from './offers.ts'
import {
  type AnswerToCaller,
  INTERRUPTED,
  isDue,
  keepAnswer,
  MachinePayment,
  MachinePaymentAnswer,
} from './payment.ts'
import { mppProcess, reversedMppProcess } from './process.ts'

export type MachinePaymentEvents = typeof machinePaymentOutcomeEvents &
  typeof mppTokenEvents &
  typeof tokenPaymentEvents

const PAYMENT_REQUIRED = 402

/** A machine payment with its payment locked. Applies the statements of merchant, network or owner. */
export class LockedMachinePayment {
  readonly credential: MppCredential
  readonly #batch: CardBatch
  readonly #context: WriteContext<MachinePaymentEvents>

  constructor(credential: MppCredential, batch: CardBatch, context: WriteContext<MachinePaymentEvents>) {
    this.credential = credential
    this.#batch = batch
    this.#context = context
  }

  /** Once the merchant or the owner has stated that it was paid, a reversal by the network does not undo that. */
  isConfirmed(): boolean {
    return this.#authorization.facts.confirmed !== null
  }

  /**
   * Whether the network's reports decide that it is paid. An authorization alone does not where the merchant has
   * answered 402: it delivers nothing, and may never clear the payment.
   */
  isPaidByNetwork(): boolean {
    const { declinedAt, merchantStatus } = this.credential
    const { transactionId, clearedCents } = this.#authorization
    if (transactionId === null || declinedAt !== null) return false
    return merchantStatus !== PAYMENT_REQUIRED || clearedCents > 0n
  }

  /** Captures the money once, even if another witness has already stated it. */
  markPaid(by: OutcomeWitness): void {
    this.#state('paid')
    completeMachinePayment(this.credential, this.#authorization.transactionId, by, this.#context)
  }

  /** Keeps the hold, as the outcome is unknown. The network may have reported the outcome before. */
  async markIndeterminate(note: string, action: SharedTokenAction | null = null): Promise<void> {
    const { credential } = this
    if (credential.status === 'consumed' || credential.status === 'void') return
    credential.note = note
    if (!mppCredentialMachine.move(credential, 'indeterminate')) return
    Object.assign(credential, {
      dueAt: addMs(credential.createdAt, INDETERMINATE_TTL_MS),
      nextAction: action,
    })
    this.#context.emit('mpp.credential.indeterminate', mppCredentialEvent(credential))
    if (this.isPaidByNetwork())
      completeMachinePayment(credential, this.#authorization.transactionId, 'network', this.#context)
    else if (credential.declinedAt !== null) await this.markUnpaid('network')
    else startProcess(credential, this.#context)
    this.#announceAction()
  }

  /** Nothing has been sent: it waits until the token ends. */
  awaitPerson(action: SharedTokenAction): void {
    const { credential } = this
    const isNews = credential.nextAction === null
    credential.nextAction = action
    startProcess(credential, this.#context)
    if (isNews) this.#announceAction()
  }

  #announceAction(): void {
    const { nextAction, dueAt } = this.credential
    if (!nextAction || !dueAt) return
    const event = { ...mppCredentialEvent(this.credential), nextAction, dueAt }
    this.#context.emit('mpp.credential.action_required', event)
  }

  /**
   * Revokes the token of an unpaid credential, so that the intent can be paid again once nothing is held for it.
   * Returns false if the network reports a payment. `reason` says why it was never sent.
   */
  async markUnpaid(by: OutcomeWitness, reason?: string): Promise<boolean> {
    const { credential } = this
    const { now, emit, em } = this.#context
    if (!isApprovedByNetwork(this.#authorization)) this.#state('not_paid')
    if (this.isPaidByNetwork()) {
      completeMachinePayment(credential, this.#authorization.transactionId, 'network', this.#context)
      return false
    }
    const runs = credential.status === 'consumed' ? reversedMppProcess : mppProcess
    if (!mppCredentialMachine.move(credential, 'void')) return false
    await revokeMppToken(credential.id, this.#context)
    // What was never sent is not kept.
    const ordered = await em.findOne(MachinePayment, { id: credential.id })
    if (ordered)
      Object.assign(ordered, { request: null, credential: null, dueAt: null, ...(reason && { reason }) })
    const ended = { transactionId: null, endedAt: now, dueAt: now, nextAction: null }
    Object.assign(credential, { outcomeBy: by, ...ended })
    emit('mpp.credential.void', mppCredentialEvent(credential))
    startProcess(credential, this.#context, runs)
    return true
  }

  get #authorization() {
    return tokenPaymentAuthorization(this.credential.id, this.#batch)
  }

  #state(outcome: 'paid' | 'not_paid'): void {
    const { sql, queueStatement } = this.#context
    applyTokenPaymentOutcome(this.#authorization, outcome, this.#batch, this.#context)
    queueStatement(writeCardBatch(this.#batch, sql))
  }
}

export function completeMachinePayment(
  credential: MppCredential,
  transactionId: string | null,
  by: OutcomeWitness,
  context: EmitContext<MachinePaymentEvents>,
): boolean {
  const { now, emit, wake } = context
  if (transactionId === null) throw new Error(`${credential.id}: paid without a transaction`)
  if (!mppCredentialMachine.move(credential, 'consumed')) return false
  Object.assign(credential, { transactionId, outcomeBy: by, endedAt: now, dueAt: null, nextAction: null })
  const data = mppCredentialEvent(credential)
  emit('mpp.credential.consumed', data)
  emit('mpp.transaction.completed', { ...data, transactionId })
  if (credential.workflowId !== null) wake(mppProcess, credential)
  return true
}

/**
 * A payment with an unknown outcome always has a run, even if the setting gives no run to payments that end
 * at once.
 */
function startProcess(
  credential: MppCredential,
  { wake }: EmitContext,
  process: DurableProcess = mppProcess,
): void {
  credential.workflowId ??= workflowIdOf(process, credential.id)
  wake(process, credential)
}

/** Locks a machine payment and all that its outcome may change, in the global order. Null if there is none. */
export async function lockMachinePayment(
  id: string,
  context: WriteContext<MachinePaymentEvents>,
): Promise<LockedMachinePayment | null> {
  const batch = await loadTokenPayments(context.sql, context, { mppCredentialIds: [id] })
  const credential = await context.em.findOne(MppCredential, { id }, FOR_UPDATE)
  return credential && new LockedMachinePayment(credential, batch, context)
}

/** Keeps the answer for the caller of the payment, in place of an earlier one. */
export async function answerLater(
  { id, agentId, delegationId }: MppCredential,
  answer: AnswerToCaller,
  { em, systems }: WriteContext,
): Promise<void> {
  const earlier = await em.findOne(MachinePaymentAnswer, { id })
  keepAnswer({ id, agentId, delegationId }, answer, { em, systems }, earlier)
}

type Charge = z.output<(typeof agentCredentialChargeEvents)['agent_credential.charged']>

const emits = { ...tokenPaymentEvents, ...mppTokenEvents, ...machinePaymentOutcomeEvents }

function machinePayments(events: readonly Charge[]): [string, Charge][] {
  const latest = new Map<string, Charge>()
  for (const event of events) if (event.mppCredentialId) latest.set(event.mppCredentialId, event)
  return [...latest].sort(([one], [other]) => (one < other ? -1 : 1))
}

/**
 * An authorization or clearing decides an unknown outcome. While the merchant's answer is pending, it is only
 * noted, since the authorization may still be reversed.
 */
async function noteCharge(
  id: string,
  { transactionId }: Charge,
  context: WriteContext<MachinePaymentEvents>,
): Promise<void> {
  const credential = await context.em.findOne(MppCredential, { id }, FOR_UPDATE)
  if (!credential || transactionId === null) return
  Object.assign(credential, { transactionId, declinedAt: null, nextAction: null })
  if (credential.status === 'sent') return
  const isDisputed = credential.merchantStatus === PAYMENT_REQUIRED
  const payment = isDisputed ? await lockMachinePayment(id, context) : null
  if (!payment || payment.isPaidByNetwork())
    completeMachinePayment(credential, transactionId, 'network', context)
  // It ended as not paid, and names no payment until a clearing says otherwise.
  else if (credential.status === 'void') credential.transactionId = null
}

/**
 * The network has declined, or reversed its authorization. A payment that a receipt or the owner confirmed
 * stays paid, and its transaction shows the reversal.
 */
async function noteDecline(id: string, context: WriteContext<MachinePaymentEvents>): Promise<void> {
  const payment = await lockMachinePayment(id, context)
  if (!payment || payment.isConfirmed() || payment.credential.status === 'void') return
  const { credential } = payment
  Object.assign(credential, { transactionId: null, declinedAt: context.now })
  if (credential.status !== 'sent') await payment.markUnpaid('network')
}

export const machinePaymentReactions = {
  'agent_credential.charged': reactionToAll(
    agentCredentialChargeEvents['agent_credential.charged'],
    emits,
    async (events, context) => {
      for (const [id, event] of machinePayments(events)) await noteCharge(id, event, context)
    },
  ),
  'agent_credential.declined': reactionToAll(
    agentCredentialChargeEvents['agent_credential.declined'],
    emits,
    async (events, context) => {
      for (const [id] of machinePayments(events)) await noteDecline(id, context)
    },
  ),
}

export const resolveMachinePayment: HandlerOf<typeof mppApi.resolve> = async ({ params, body }, context) => {
  const { actor, refuse } = context
  const payment = await lockMachinePayment(params.id, context)
  if (!payment) return refuse('credential_not_found')
  const { credential } = payment
  const isUnsent = isUnshared(credential) && !(awaitsPerson(credential) && body.outcome === 'not_paid')
  if (credential.status === 'sent' || isUnsent) return refuse('credential_under_way')
  const isOver = credential.status === 'void' || credential.status === 'consumed'
  if (isOver) return refuse('credential_over', `The outcome is already known: it is ${credential.status}.`)
  const by: OutcomeWitness = actor.type === 'operator' ? 'operator' : 'key'
  if (body.comment !== undefined) credential.note = body.comment
  if (body.outcome === 'paid') payment.markPaid(by)
  else if (!(await payment.markUnpaid(by))) return refuse('network_says_paid')
  return credential
}

/** The merchant has not answered in time: the outcome stays open, and its money held. */
export async function leaveOutcomeOpen(id: string, tx: WriteContext<MachinePaymentEvents>): Promise<void> {
  const payment = await lockDuePayment(id, ['sent'], tx)
  if (payment) await loseAnswer(payment, tx)
}

const LOST = 'The merchant’s answer was lost: the service was stopped, or the answer came too late.'

/** The credential is not sent again, whether or not it has arrived. */
export async function loseAnswer(
  payment: LockedMachinePayment,
  tx: WriteContext<MachinePaymentEvents>,
): Promise<void> {
  await payment.markIndeterminate(LOST)
  const message = `${LOST} ${outcomeSummary(payment.credential)}`
  await answerLater(payment.credential, { code: 'payment_indeterminate', message }, tx)
}

const SENDER_LIVES = `
select 1 from mpp_payments p join process_leases l on l.id = p.claimed_by
where (p.owner_id, p.mode, p.id) = ($1, $2, $3)`

/** A merchant has 30 seconds, and the processor ten for what it may know about a silent one. */
const SENDING_MS = minutes(1)

/** The process that has sent it has died since, or has not recorded its answer in time: the answer is lost. */
export async function recoverSent(id: string, tx: WriteContext<MachinePaymentEvents>): Promise<void> {
  const { ownerId, mode } = tx.tenant
  const payment = await lockMachinePayment(id, tx)
  if (payment?.credential.status !== 'sent') return
  const { sentAt } = payment.credential
  const isUnderWay = sentAt !== null && addMs(sentAt, SENDING_MS) > tx.now
  const living = isUnderWay ? await tx.sql(SENDER_LIVES, [ownerId, mode, id]) : []
  if (living.length === 0) await loseAnswer(payment, tx)
}

const PAID = 'The card network reports that it is paid.'
const NOT_PAID = 'The card network declined the payment: it is not paid, and the intent can be paid again.'

export function outcomeSummary({
  id,
  status,
  nextAction,
}: Pick<MppCredential, 'id' | 'status' | 'nextAction'>): string {
  if (status === 'consumed' || status === 'void')
    return `${status === 'void' ? NOT_PAID : PAID} GET /v1/mpp/credentials/${id} has the record.`
  if (nextAction)
    return `The card’s issuer wants a person to confirm the payment: ${nextAction.url}. It counts as paid once the card network clears it. GET /v1/mpp/credentials/${id} shows the outcome.`
  return `The credential ${id} was sent, so it may have been paid: the money stays held, and nothing is minted again. GET /v1/mpp/credentials/${id} shows the outcome; once the owner has learned it from the merchant, resolve it with POST /v1/mpp/credentials/${id}/resolve.`
}

/** No witness has said in time that it was paid: it counts as not paid. */
export async function endUnpaid(id: string, tx: WriteContext<MachinePaymentEvents>): Promise<void> {
  const payment = await lockDuePayment(id, ['minted', 'indeterminate'], tx)
  if (!payment) return
  const { credential } = payment
  const isWithUs = credential.sentBy === 'service' || isUnshared(credential)
  if (credential.status === 'minted' && isWithUs) await interrupt(payment, tx)
  else await payment.markUnpaid('deadline')
}

/** The credential never leaves: only the process that was to send it has it, and was paused before it did, or left. */
export async function endUnsent(id: string, tx: WriteContext<MachinePaymentEvents>): Promise<void> {
  const payment = await lockMachinePayment(id, tx)
  const isOpen = payment?.credential.status === 'sent' || payment?.credential.status === 'indeterminate'
  if (payment && isOpen) await interrupt(payment, tx)
}

/** Nothing was sent. A repetition of its request orders the payment anew, so that no answer is kept. */
async function interrupt(
  payment: LockedMachinePayment,
  { em }: WriteContext<MachinePaymentEvents>,
): Promise<void> {
  const { credential } = payment
  if (!(await payment.markUnpaid('deadline', INTERRUPTED))) return
  credential.sentAt = null
  const kept = await em.findOne(MachinePaymentAnswer, { id: credential.id })
  if (kept) em.remove(kept)
}

/** Something forbids it since it was decided, and nothing has left. */
export async function endObstructed(
  id: string,
  problem: MachinePaymentProblem,
  tx: WriteContext<MachinePaymentEvents>,
): Promise<void> {
  const payment = await lockMachinePayment(id, tx)
  if (payment?.credential.status !== 'minted') return
  payment.credential.note = problem.message
  if (await payment.markUnpaid('deadline', problem.code)) await answerLater(payment.credential, problem, tx)
}

async function lockDuePayment(
  id: string,
  statuses: readonly MppStatus[],
  tx: WriteContext<MachinePaymentEvents>,
): Promise<LockedMachinePayment | null> {
  const payment = await lockMachinePayment(id, tx)
  return payment && statuses.includes(payment.credential.status) && isDue(payment.credential, tx)
    ? payment
    : null
}

/** Short: a token that is not deleted can still be charged. */
const RETRY_MS = minutes(1)

interface TokenToDelete {
  readonly tokenId: string | null
  /** Null for a network token: only a shared payment token is ordered. */
  readonly order: OrderedToken | null
  readonly call: ProcessorCall
}

/** Claims the deletion of a token for a minute, in which no other process asks the processor. */
export async function reserveTokenDeletion(id: string, tx: WriteContext): Promise<TokenToDelete | null> {
  const { em, now, requestId } = tx
  const credential = await em.findOne(MppCredential, { id }, FOR_UPDATE)
  if (credential?.status !== 'void' || !isDue(credential, tx)) return null
  const order = credential.sharedToken
  const token = await tokenToDelete(id, tx, { isShared: order !== null })
  const isKnown = token !== null && (token.tokenId ?? order) !== null
  credential.dueAt = isKnown ? addMs(now, RETRY_MS) : null
  return isKnown ? { tokenId: token.tokenId, order, call: { reference: id, requestId, now } } : null
}

/**
 * A shared token whose creation was not recorded is found by its reference. If the processor refuses to create it now,
 * it was never created.
 */
export async function deleteToken(
  { tokenId, order, call }: TokenToDelete,
  { setNetworkToken, sharedTokens }: CardProcessor,
): Promise<ProcessorCallDone | ProcessorFailure> {
  const deletion = { ...call, reference: `${call.reference}-deleted` }
  if (!order || !sharedTokens) {
    if (!setNetworkToken || tokenId === null) return CALL_DONE
    return setNetworkToken(tokenId, 'deleted', deletion)
  }
  const known = tokenId ?? order.unconfirmed?.tokenId
  if (known !== undefined) return sharedTokens.revoke(known, deletion)
  const found = await sharedTokens.create(order, call)
  if (!isProcessorFailure(found)) return sharedTokens.revoke(found.tokenId, deletion)
  return found.failure === 'refused' ? CALL_DONE : found
}

export async function recordDeletedToken(
  id: string,
  answer: ProcessorCallDone | ProcessorFailure,
  tx: WriteContext,
): Promise<void> {
  const credential = await tx.em.findOne(MppCredential, { id }, FOR_UPDATE)
  const isOver = await recordTokenDeletion(id, answer, tx)
  if (!credential || !isOver) return
  credential.dueAt = null
  // Its run ends at once, also where it has not deleted the token itself.
  if (credential.workflowId !== null) tx.wake(mppProcess, credential)
}
