import type { CallerContext, EmitContext, WriteContext } from '../../kernel/contract/context.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import {
  type IssuedNetworkToken,
  isProcessorFailure,
  type ProcessorCallDone,
  type ProcessorFailure,
} from '../../ports/card-processor.ts'
import type { Cents } from '../../values/money.ts'
import { accessEvents, grantCardAccess, recordDisclosure } from '../access-events/index.ts'
import { AgentCredential, agentCredentialEvent, agentCredentialMachine } from './agent-credential.ts'
import { agentCredentialEvents } from './api.ts'

interface MppToken {
  readonly mppCredentialId: string
  readonly agentId: string
  readonly delegationId: string | null
  readonly intentId: string
  readonly cardId: string
  readonly amountCents: Cents
  readonly merchantHost: string
  readonly keyThumbprint: string
  readonly expiresAt: Date
  readonly processor: string
  /** Null for a shared payment token, which is created afterwards. */
  readonly issued: Pick<IssuedNetworkToken, 'tokenId' | 'last4'> | null
}

export const mppTokenEvents = {
  'card.access_granted': accessEvents['card.access_granted'],
  'agent_credential.issued': agentCredentialEvents['agent_credential.issued'],
  'agent_credential.revoked': agentCredentialEvents['agent_credential.revoked'],
}

/**
 * Records the token with its limits, and the disclosure to its merchant, before a byte of it leaves. It pays
 * once, and no more than the payment.
 */
export function registerMppToken(
  token: MppToken,
  context: CallerContext & EmitContext<typeof mppTokenEvents> & { readonly em: EntityManager },
): AgentCredential {
  const { em } = context
  const { mppCredentialId, agentId, delegationId, intentId, cardId, merchantHost, keyThumbprint } = token
  const granted = grantCardAccess(
    { card: { id: cardId, agentId }, cardOfOther: null, intent: { id: intentId, agentId, delegationId } },
    { way: 'mpp', sourceId: mppCredentialId, purpose: null, merchantHost, keyThumbprint },
    context,
  )
  recordDisclosure(granted.id, em)
  const credential = em.create(AgentCredential, {
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
    accessEventId: granted.id,
    keyThumbprint,
  })
  if (token.issued) activateMppToken(credential, token.issued, context)
  return credential
}

/** Returns false if a key revoked the token before it was created: its id is needed to revoke it at the processor. */
export function activateMppToken(
  credential: AgentCredential,
  { tokenId, last4 }: Pick<IssuedNetworkToken, 'tokenId' | 'last4'>,
  { emit }: EmitContext<Pick<typeof mppTokenEvents, 'agent_credential.issued'>>,
): boolean {
  Object.assign(credential, { tokenId, last4 })
  if (!agentCredentialMachine.move(credential, 'active')) return false
  emit('agent_credential.issued', agentCredentialEvent(credential))
  return true
}

export const NOT_NOTIFIED = 'The processor has not been notified yet.'

export async function revokeMppToken(
  mppCredentialId: string,
  { em, now, emit }: WriteContext<typeof mppTokenEvents>,
): Promise<boolean> {
  const found = await em.findOne(AgentCredential, { mppCredentialId })
  const credential = found && (await em.findOne(AgentCredential, { id: found.id }, FOR_UPDATE))
  if (!credential || !agentCredentialMachine.move(credential, 'revoked')) return false
  Object.assign(credential, { revokedAt: now, processorProblem: NOT_NOTIFIED })
  emit('agent_credential.revoked', agentCredentialEvent(credential))
  return true
}

/**
 * The token that the processor must still delete. Its id is null if it is not known whether it was created. A shared
 * token may have been created after a key revoked it, so that it is always revoked again.
 */
export async function tokenToDelete(
  mppCredentialId: string,
  { em }: WriteContext,
  { isShared = false } = {},
): Promise<{ readonly tokenId: string | null } | null> {
  const found = await em.findOne(AgentCredential, { mppCredentialId })
  if (found?.status !== 'revoked') return null
  return isShared || found.processorProblem !== null ? { tokenId: found.tokenId } : null
}

export async function recordTokenDeletion(
  mppCredentialId: string,
  answer: ProcessorCallDone | ProcessorFailure,
  { em }: WriteContext,
): Promise<boolean> {
  const found = await em.findOne(AgentCredential, { mppCredentialId })
  const credential = found && (await em.findOne(AgentCredential, { id: found.id }, FOR_UPDATE))
  if (!credential) return true
  const isOpen = isProcessorFailure(answer) && answer.failure !== 'refused'
  if (!isOpen)
    credential.processorProblem = isProcessorFailure(answer)
      ? 'The processor refuses to delete the token.'
      : null
  return !isOpen
}
