import {
  AgentCredential,
  activateMppToken,
  type mppTokenEvents,
} from '../../../cards/agent-credentials/index.ts'
import type { BatchedStep, CallExternal, ExternalCallContext } from '../../../kernel/contract/handlers.ts'
import type { Refusal } from '../../../kernel/contract/problem.ts'
import type { Records } from '../../../kernel/contract/records.ts'
import { tenantRecords } from '../../../kernel/database/record-store.ts'
import { stripePayload } from '../../../mpp/index.ts'
import {
  isProcessorFailure,
  type ProcessorFailure,
  type SharedToken,
  type SharedTokenOrder,
} from '../../../ports/card-processor.ts'
import { addMs, clock } from '../../../values/clock.ts'
import { mintRefusals } from '../api.ts'
import { MppCredential, mppCredentialMachine, SENT_CREDENTIAL_GRACE_MS } from '../credential.ts'
import type { MerchantOffer } from '../offers.ts'
import { lockMachinePayment } from '../outcome.ts'
import { type HandedOver, handOver } from './hand-over.ts'
import { credentialOf, PROCESSOR_CODES } from './mint.ts'
import type { BegunPayment, MachinePaymentProblemCode, MachinePaymentStage } from './payment.ts'

interface Sharing {
  readonly payment: BegunPayment
  readonly order: SharedTokenOrder
  readonly offer: MerchantOffer
}

interface Shared extends Sharing {
  readonly kind: 'shared'
  readonly token: SharedToken
}

/** No usable token: the processor did not create one, may have, or created one that a person must confirm. */
export interface Unshared {
  readonly kind: 'unshared'
  readonly credentialId: string
  readonly failure: ProcessorFailure['failure'] | 'requires_action'
}

export const isShared = (answer: Shared | Unshared): answer is Shared => answer.kind === 'shared'

/** The credential's id is the reference: a repetition gets the same token. */
export async function createSharedToken(
  sharing: Sharing,
  { ports, requestId }: ExternalCallContext,
): Promise<Shared | Unshared> {
  const { mppCredentialId: reference, mode, askedAt: now } = sharing.payment
  const { sharedTokens } = ports.cardProcessor(mode)
  if (!sharedTokens) throw new Error('an offer was chosen that this processor cannot pay')
  const token = await sharedTokens.create(sharing.order, { reference, requestId, now })
  if (isProcessorFailure(token)) return { kind: 'unshared', credentialId: reference, failure: token.failure }
  return token.status === 'active'
    ? { kind: 'shared', ...sharing, token }
    : { kind: 'unshared', credentialId: reference, failure: token.status }
}

/** No one can charge the token after its end, by real time. What was charged just before has been reported by then. */
const lastUseMs = ({ expiresAt }: SharedTokenOrder): number =>
  Math.max(Date.parse(expiresAt) - clock.real().getTime(), 0) + SENT_CREDENTIAL_GRACE_MS

interface State {
  readonly records: Records
  readonly credentials: ReadonlyMap<string, MppCredential>
  readonly tokens: ReadonlyMap<string, AgentCredential>
}

/** Records the token, before a byte of it leaves. A payment that has ended meanwhile is not sent. */
export const recordSharedTokenStep: BatchedStep<
  Shared,
  HandedOver | CallExternal<MachinePaymentStage>,
  MachinePaymentProblemCode,
  Pick<typeof mppTokenEvents, 'agent_credential.issued'>,
  State
> = {
  name: 'share',

  async load(items, sql) {
    const { tenant, now } = items[0]
    const records = tenantRecords(sql, { tenant, now })
    const ids = { $in: items.map(({ input }) => input.payment.mppCredentialId) }
    const inOrder = { orderBy: { id: 'asc' }, lock: true } as const
    const credentials = await records.find(MppCredential, { id: ids }, inOrder)
    const tokenIds = { $in: credentials.map(({ agentCredentialId }) => agentCredentialId) }
    const tokens = await records.find(AgentCredential, { id: tokenIds }, inOrder)
    return {
      records,
      credentials: new Map(credentials.map(one => [one.id, one])),
      tokens: new Map(tokens.map(one => [one.id, one])),
    }
  },

  decide({ input: { payment, offer, token, order }, now }, { credentials, tokens }, { emit, refuse }) {
    const credential = credentials.get(payment.mppCredentialId)
    const registered = credential && tokens.get(credential.agentCredentialId)
    if (!credential || !registered) throw new Error('a token was created for a payment that is not on record')
    if (credential.status !== 'minted') return refuse('pay_interrupted')
    // A key has revoked it meanwhile. Its deadline ends the payment, and revokes the token at the processor.
    if (!activateMppToken(registered, token, { emit })) return refuse('pay_interrupted')
    const minted = credentialOf(offer, stripePayload(token.tokenId, offer.charge))
    const isOurs = credential.sentBy === 'service'
    Object.assign(credential, {
      credentialDigest: minted.digest,
      sentAt: isOurs ? now : null,
      dueAt: addMs(now, isOurs ? SENT_CREDENTIAL_GRACE_MS : lastUseMs(order)),
    })
    if (isOurs) mppCredentialMachine.move(credential, 'sent')
    return handOver(credential, { ...payment, tokenId: token.tokenId }, minted)
  },

  write: ({ records }) => records.flush(),
}

const CODES = { ...PROCESSOR_CODES, requires_action: 'action_required' } as const

type EndContext = Parameters<typeof lockMachinePayment>[1] & {
  refuse(code: MachinePaymentProblemCode, message?: string): Refusal
}

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
  if (payment.credential.status === 'minted') {
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
