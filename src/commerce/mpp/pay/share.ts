import {
  AgentCredential,
  activateMppToken,
  type mppTokenEvents,
} from '../../../cards/agent-credentials/index.ts'
import {
  type BatchedAnswer,
  type BatchedStep,
  type ExternalCallContext,
  recordInBatch,
} from '../../../kernel/contract/handlers.ts'
import type { Refusal } from '../../../kernel/contract/problem.ts'
import { oneOf, type Records } from '../../../kernel/contract/records.ts'
import { tenantRecords } from '../../../kernel/database/entity-records.ts'
import { stripePayload } from '../../../mpp/index.ts'
import {
  isProcessorFailure,
  type ProcessorFailure,
  type SharedToken,
  type SharedTokenAction,
  type SharedTokenOrder,
} from '../../../ports/card-processor.ts'
import { addMs, clock, formatMinute } from '../../../values/clock.ts'
import { mintRefusals } from '../api.ts'
import { isUnshared, MppCredential, mppCredentialMachine, SENT_CREDENTIAL_GRACE_MS } from '../credential.ts'
import type { MerchantOffer } from '../offers.ts'
import { lockMachinePayment } from '../outcome.ts'
import { type HandedOver, handOver } from './hand-over.ts'
import { credentialOf, PROCESSOR_CODES } from './mint.ts'
import type {
  BegunPayment,
  MachinePaymentProblem,
  MachinePaymentProblemCode,
  SendablePayment,
} from './payment.ts'

interface Sharing {
  readonly payment: BegunPayment
  readonly order: SharedTokenOrder
  readonly offer: MerchantOffer
}

export interface Shared extends Pick<Sharing, 'order' | 'offer'> {
  readonly kind: 'shared'
  readonly payment: Omit<SendablePayment, 'sharedTokenId'>
  readonly token: SharedToken
}

/** A person must confirm the token before it can be charged. */
export interface Waiting extends Pick<Sharing, 'order'> {
  readonly kind: 'waiting'
  readonly credentialId: string
  readonly token: SharedToken
  readonly action: SharedTokenAction
}

/**
 * No usable token: the processor did not create one, may have, or created one that a person must confirm and names
 * no page for that.
 */
export interface Unshared {
  readonly kind: 'unshared'
  readonly credentialId: string
  readonly failure: ProcessorFailure['failure'] | 'requires_action'
}

export type NotShared = Waiting | Unshared | MachinePaymentProblem

/** The credential's id is the reference: a repetition gets the same token. */
export async function createSharedToken(
  sharing: Sharing,
  { systems, requestId }: ExternalCallContext,
): Promise<Shared | Waiting | Unshared> {
  const { mppCredentialId: reference, mode, askedAt: now } = sharing.payment
  const { sharedTokens } = systems.cardProcessor(mode)
  if (!sharedTokens) throw new Error('an offer was chosen that this processor cannot pay')
  const token = await sharedTokens.create(sharing.order, { reference, requestId, now })
  if (isProcessorFailure(token)) return { kind: 'unshared', credentialId: reference, failure: token.failure }
  const { state } = token
  if (state.status === 'active') return { kind: 'shared', ...sharing, token }
  if (state.status === 'ended') return { kind: 'unshared', credentialId: reference, failure: 'refused' }
  return state.action
    ? { kind: 'waiting', credentialId: reference, order: sharing.order, token, action: state.action }
    : { kind: 'unshared', credentialId: reference, failure: state.status }
}

/** By real time, like the token’s end. */
const remainingMs = ({ expiresAt }: SharedTokenOrder): number =>
  Math.max(Date.parse(expiresAt) - clock.real().getTime(), 0)

/** No one can charge the token after its end. What was charged just before has been reported by then. */
const lastUseMs = (order: SharedTokenOrder): number => remainingMs(order) + SENT_CREDENTIAL_GRACE_MS

interface State {
  readonly records: Records
  readonly credentials: ReadonlyMap<string, MppCredential>
  readonly tokens: ReadonlyMap<string, AgentCredential>
}

/** Records the token, before a byte of it leaves. A payment that has ended meanwhile is not sent. */
export const recordSharedTokenStep: BatchedStep<
  Shared,
  HandedOver,
  MachinePaymentProblemCode,
  Pick<typeof mppTokenEvents, 'agent_credential.issued'>,
  State
> = {
  name: 'share',
  lanes: null,

  async load(items, sql) {
    const { tenant, now } = items[0]
    const records = tenantRecords(sql, { tenant, now })
    const ids = oneOf(items.map(({ input }) => input.payment.mppCredentialId))
    const inOrder = { orderBy: { id: 'asc' }, lock: true } as const
    const credentials = await records.find(MppCredential, { id: ids }, inOrder)
    const tokenIds = oneOf(credentials.map(({ agentCredentialId }) => agentCredentialId))
    const tokens = await records.find(AgentCredential, { id: tokenIds }, inOrder)
    return {
      records,
      credentials: new Map(credentials.map(one => [one.id, one])),
      tokens: new Map(tokens.map(one => [one.id, one])),
    }
  },

  decide({ input: { payment, offer, token, order }, now }, { credentials, tokens }, verdict) {
    const { refuse } = verdict
    const credential = credentials.get(payment.mppCredentialId)
    const registered = credential && tokens.get(credential.agentCredentialId)
    if (!credential || !registered) throw new Error('a token was created for a payment that is not on record')
    const isLate = credential.dueAt !== null && credential.dueAt <= now
    if (credential.status !== 'minted' || isLate) return refuse('pay_interrupted')
    // A key has revoked it meanwhile. Its deadline ends the payment, and revokes the token at the processor.
    if (!activateMppToken(registered, token, verdict)) return refuse('pay_interrupted')
    const minted = credentialOf(offer, stripePayload(token.tokenId, offer.charge))
    const isOurs = credential.sentBy === 'service'
    Object.assign(credential, {
      credentialDigest: minted.digest,
      nextAction: null,
      sentAt: isOurs ? now : null,
      dueAt: addMs(now, isOurs ? SENT_CREDENTIAL_GRACE_MS : lastUseMs(order)),
    })
    if (isOurs) mppCredentialMachine.move(credential, 'sent')
    return handOver(credential, { ...payment, sharedTokenId: token.tokenId }, minted)
  },

  write: ({ records }) => records.flush(),
}

/** A token that can be sent is recorded in a batch. */
export const recordShared = (answer: Shared | NotShared): NotShared | BatchedAnswer =>
  'kind' in answer && answer.kind === 'shared' ? recordInBatch(recordSharedTokenStep, answer) : answer

const CODES = { ...PROCESSOR_CODES, requires_action: 'action_required' } as const

type EndContext = Parameters<typeof lockMachinePayment>[1] & {
  refuse(code: MachinePaymentProblemCode, message?: string): Refusal
}

/** Nothing is sent, and the money stays held, until the person has confirmed or the token ends. */
export async function recordWaiting(
  { credentialId, order, token, action }: Waiting,
  context: EndContext,
): Promise<Refusal> {
  const { now, refuse } = context
  const payment = await lockMachinePayment(credentialId, context)
  if (!payment) throw new Error('a token was ordered for a payment that is not on record')
  const { credential } = payment
  if (!isUnshared(credential)) return refuse('pay_interrupted')
  const { tokenId, last4 } = token
  if (credential.nextAction === null) {
    credential.sharedToken = { ...order, unconfirmed: { tokenId, last4 } }
    credential.dueAt = addMs(now, remainingMs(order))
  }
  payment.awaitPerson(action)
  return refuse('action_required', waitingMessage(action, order))
}

const waitingMessage = ({ url }: SharedTokenAction, { expiresAt }: SharedTokenOrder): string =>
  `The card’s issuer wants a person to confirm this payment by ${formatMinute(new Date(expiresAt))}: ${url}. Nothing was sent. Once it is confirmed, repeat the request with a new Idempotency-Key.`

/**
 * Ends a payment whose token was never sent: the intent can be paid again at once, and its process revokes the
 * token that the processor may have created.
 */
export async function endUnshared(
  { credentialId, failure }: Omit<Unshared, 'kind'>,
  context: EndContext,
): Promise<Refusal> {
  const payment = await lockMachinePayment(credentialId, context)
  if (!payment) throw new Error('a token was ordered for a payment that is not on record')
  if (isUnshared(payment.credential)) {
    payment.credential.note = mintRefusals[CODES[failure]][1]
    await payment.markUnpaid(failure === 'late' || failure === 'unusable' ? 'deadline' : 'network')
  }
  return context.refuse(CODES[failure])
}

/** After a crash it is unknown whether a token was created. It was not sent. */
export async function recoverSharing(credentialId: string, context: EndContext): Promise<Refusal> {
  await endUnshared({ credentialId, failure: 'late' }, context)
  return context.refuse('pay_interrupted')
}
