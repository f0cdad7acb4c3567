import type { Context } from '../../kernel/contract/context.ts'
import {
  type Done,
  type IssuedNetworkToken,
  isFailure,
  type ProcessorFailure,
} from '../../ports/card-processor.ts'
import type { Cents } from '../../values/money.ts'
import { accessEvents, grant, recordDisclosed } from '../access-events/index.ts'
import { AgentCredential, agentCredentialEvent, agentCredentialMachine } from './agent-credential.ts'
import { agentCredentialEvents } from './api.ts'

/** The network token of one machine payment. */
interface MppToken {
  readonly mppCredentialId: string
  readonly agentId: string
  readonly delegationId: string | null
  readonly intentId: string
  readonly cardId: string
  /** What the merchant asks for, and the most that the token pays. */
  readonly amountCents: Cents
  /** The host that the token goes to. */
  readonly merchantHost: string
  /** The thumbprint of the merchant's key, to which the token is encrypted. */
  readonly keyThumbprint: string
  /** Afterwards the network gets no authorization on it any more. */
  readonly expiresAt: Date
  readonly processor: string
  readonly issued: Pick<IssuedNetworkToken, 'tokenId' | 'last4'>
}

/** The events of a machine payment's token: operations that register or revoke one declare them. */
export const mppTokenEvents = {
  'card.access_granted': accessEvents['card.access_granted'],
  'agent_credential.issued': agentCredentialEvents['agent_credential.issued'],
  'agent_credential.revoked': agentCredentialEvents['agent_credential.revoked'],
}

type TokenContext = Pick<
  Context<never, typeof mppTokenEvents>,
  'actor' | 'records' | 'address' | 'requestId' | 'emit' | 'now'
>

/**
 * Puts the token on record with its limits, and that its merchant is given it: before a byte of it leaves. It pays once,
 * and no more than the payment.
 */
export function registerMppToken(token: MppToken, context: TokenContext): AgentCredential {
  const { records, emit } = context
  const { mppCredentialId, agentId, delegationId, intentId, cardId, merchantHost, keyThumbprint } = token
  const granted = grant(
    { card: { id: cardId, agentId }, cardOfOther: null, intent: { id: intentId, agentId, delegationId } },
    { way: 'mpp', sourceId: mppCredentialId, purpose: null, merchantHost, keyThumbprint },
    context,
  )
  recordDisclosed(granted.id, context)
  const credential = records.create(AgentCredential, {
    agentId,
    delegationId,
    intentId,
    mppCredentialId,
    cardId,
    merchantScope: [merchantHost],
    amountLimitCents: token.amountCents,
    maxCharges: 1,
    expiresAt: token.expiresAt,
    processor: token.processor,
    tokenId: token.issued.tokenId,
    last4: token.issued.last4,
    accessEventId: granted.id,
    keyThumbprint,
  })
  agentCredentialMachine.move(credential, 'active')
  emit('agent_credential.issued', agentCredentialEvent(credential))
  return credential
}

/** The value of `processorProblem` until the processor has deleted a token that was revoked. */
const UNTOLD = 'The processor has not been told yet.'

/** From now on the token of a machine payment pays nothing; false where it has ended before. */
export async function revokeMppToken(
  mppCredentialId: string,
  { records, now, emit }: Pick<TokenContext, 'records' | 'now' | 'emit'>,
): Promise<boolean> {
  const found = await records.findOne(AgentCredential, { mppCredentialId })
  const credential = found && (await records.lock(AgentCredential, found.id))
  if (!credential || !agentCredentialMachine.move(credential, 'revoked')) return false
  Object.assign(credential, { revokedAt: now, processorProblem: UNTOLD })
  emit('agent_credential.revoked', agentCredentialEvent(credential))
  return true
}

type Reading = Pick<Context, 'records'>

/** The processor's id of a machine payment's token that is revoked here and not yet deleted there; null for any other. */
export async function tokenToDelete(mppCredentialId: string, { records }: Reading): Promise<string | null> {
  const found = await records.findOne(AgentCredential, { mppCredentialId })
  return found?.status === 'revoked' && found.processorProblem !== null ? found.tokenId : null
}

/** Notes what the processor answered; true once there is nothing left to tell it. */
export async function noteDeletion(
  mppCredentialId: string,
  answer: Done | ProcessorFailure,
  { records }: Reading,
): Promise<boolean> {
  const found = await records.findOne(AgentCredential, { mppCredentialId })
  const credential = found && (await records.lock(AgentCredential, found.id))
  if (!credential) return true
  const isOpen = isFailure(answer) && answer.failure !== 'refused'
  if (!isOpen)
    credential.processorProblem = isFailure(answer) ? 'The processor refuses to delete the token.' : null
  return !isOpen
}
