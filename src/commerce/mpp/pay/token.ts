import {
  AgentCredential,
  activateMppToken,
  type mppTokenEvents,
} from '../../../cards/agent-credentials/index.ts'
import type { WriteContext } from '../../../kernel/contract/context.ts'
import { stripePayload } from '../../../mpp/index.ts'
import {
  type CardProcessor,
  isProcessorFailure,
  type ProcessorCall,
  type ProcessorFailure,
  type SharedToken,
  type SharedTokenAction,
  type SharedTokenOrder,
} from '../../../ports/card-processor.ts'
import { addMs, clock, formatMinute } from '../../../values/clock.ts'
import { mintRefusals } from '../api.ts'
import { isUnshared, MppCredential, type OrderedToken, SENT_CREDENTIAL_GRACE_MS } from '../credential.ts'
import { isOffer, readOffer } from '../offers.ts'
import {
  answerLater,
  INTERRUPTED,
  type LockedMachinePayment,
  lockMachinePayment,
  type MachinePaymentEvents,
} from '../outcome.ts'
import { isDue, MachinePayment, nextStepOf, sealMinted } from '../payment.ts'
import type { NextStep } from '../story.ts'
import { credentialOf, PROCESSOR_CODES } from './mint.ts'

interface TokenCall {
  readonly order: OrderedToken
  readonly call: ProcessorCall
}

/** The token that a payment which has begun waits for: it is created, or a person has to confirm it. */
export async function reserveSharedToken(
  id: string,
  { records, now, requestId }: WriteContext,
): Promise<TokenCall | null> {
  const credential = await records.findOne(MppCredential, { id })
  // One of 0.7.0 has no order: its request is not known any more, and its deadline ends it.
  const isOrdered = credential && (await records.findOne(MachinePayment, { id }))
  const isAwaited = isOrdered && isUnshared(credential) && !isDue(credential, { now })
  return isAwaited && credential.sharedToken
    ? { order: credential.sharedToken, call: { reference: id, requestId, now } }
    : null
}

/** The credential's id is the reference: a repetition gets the same token. A token that a person must confirm is known. */
export async function createSharedToken(
  { order, call }: TokenCall,
  { sharedTokens }: CardProcessor,
): Promise<SharedToken | ProcessorFailure> {
  if (!sharedTokens) throw new Error('an offer was chosen that this processor cannot pay')
  const { unconfirmed } = order
  if (!unconfirmed) return sharedTokens.create(order, call)
  const state = await sharedTokens.stateOf(unconfirmed.tokenId, {
    ...call,
    reference: `${call.reference}-state`,
  })
  return isProcessorFailure(state) ? state : { ...unconfirmed, state }
}

/**
 * Records the token, before a byte of it leaves: the credential can be sent now. A payment that has ended meanwhile is not
 * sent. Without a usable token it ends, and the intent can be paid again at once.
 */
export async function recordSharedToken(
  id: string,
  token: SharedToken | ProcessorFailure,
  tx: WriteContext<MachinePaymentEvents>,
): Promise<NextStep> {
  const payment = await lockMachinePayment(id, tx)
  if (payment && isUnshared(payment.credential)) await settleToken(payment, token, tx)
  return payment ? nextStepOf(payment.credential, tx) : 'wait'
}

async function settleToken(
  payment: LockedMachinePayment,
  token: SharedToken | ProcessorFailure,
  tx: Write,
): Promise<void> {
  const { id } = payment.credential
  const { sharedToken: order } = payment.credential
  if (!order) throw new Error(`${id}: no token was ordered`)
  if (isProcessorFailure(token))
    return order.unconfirmed ? waitOn(payment, token, tx) : endUnshared(payment, token.failure, tx)
  const { state } = token
  if (state.status === 'active') return share(payment, token, order, tx)
  if (state.status === 'requires_action' && state.action) return awaitPerson(payment, token, state.action, tx)
  return endUnshared(payment, state.status === 'ended' ? 'refused' : 'requires_action', tx)
}

type Write = WriteContext<MachinePaymentEvents>

/** By real time, like the token’s end. */
const remainingMs = ({ expiresAt }: SharedTokenOrder): number =>
  Math.max(Date.parse(expiresAt) - clock.real().getTime(), 0)

/** No one can charge the token after its end. What was charged just before has been reported by then. */
const lastUseMs = (order: SharedTokenOrder): number => remainingMs(order) + SENT_CREDENTIAL_GRACE_MS

async function share(
  { credential }: LockedMachinePayment,
  token: SharedToken,
  order: OrderedToken,
  tx: Write & { emit: WriteContext<Pick<typeof mppTokenEvents, 'agent_credential.issued'>>['emit'] },
): Promise<void> {
  const { records, now, systems } = tx
  const registered = await records.lock(AgentCredential, credential.agentCredentialId)
  const ordered = await records.lock(MachinePayment, credential.id)
  const offer = readOffer(credential.challenge, 'stripe')
  if (!registered || !ordered || !isOffer(offer))
    throw new Error(`${credential.id}: a token without its payment`)
  // A key has revoked it meanwhile. Its deadline ends the payment, and revokes the token at the processor.
  if (isDue(credential, tx) || !activateMppToken(registered, token, tx))
    return answerLater(credential, INTERRUPTED, tx)
  const { digest, ...minted } = credentialOf(offer, stripePayload(token.tokenId, offer.charge))
  const isOurs = credential.sentBy === 'service'
  Object.assign(credential, {
    credentialDigest: digest,
    nextAction: null,
    dueAt: addMs(now, isOurs ? SENT_CREDENTIAL_GRACE_MS : lastUseMs(order)),
  })
  ordered.credential = sealMinted(ordered.id, minted, systems.vault)
}

/** Nothing is sent, and the money stays held, until the person has confirmed or the token ends. */
async function awaitPerson(
  payment: LockedMachinePayment,
  { tokenId, last4 }: SharedToken,
  action: SharedTokenAction,
  tx: Write,
): Promise<void> {
  const { credential } = payment
  const { sharedToken: order } = credential
  if (!order) return
  if (credential.nextAction === null) {
    credential.sharedToken = { ...order, unconfirmed: { tokenId, last4 } }
    credential.dueAt = addMs(tx.now, remainingMs(order))
  }
  payment.awaitPerson(action)
  await answerLater(credential, { code: 'action_required', message: waitingMessage(action, order) }, tx)
}

const waitingMessage = ({ url }: SharedTokenAction, { expiresAt }: SharedTokenOrder): string =>
  `The card’s issuer wants a person to confirm this payment by ${formatMinute(new Date(expiresAt))}: ${url}. Nothing was sent. Once it is confirmed, repeat the request with a new Idempotency-Key.`

/** The processor does not say whether the person has confirmed: the payment waits as before. */
async function waitOn({ credential }: LockedMachinePayment, { failure }: ProcessorFailure, tx: Write) {
  const code = PROCESSOR_CODES[failure]
  await answerLater(credential, { code, message: mintRefusals[code][1] }, tx)
}

const CODES = { ...PROCESSOR_CODES, requires_action: 'action_required' } as const

/** Its run revokes the token that the processor may have created. */
async function endUnshared(
  payment: LockedMachinePayment,
  failure: ProcessorFailure['failure'] | 'requires_action',
  tx: Write,
): Promise<void> {
  const code = CODES[failure]
  const message = mintRefusals[code][1]
  payment.credential.note = message
  await payment.markUnpaid(failure === 'late' || failure === 'unusable' ? 'deadline' : 'network')
  await answerLater(payment.credential, { code, message }, tx)
}
