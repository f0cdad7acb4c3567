import type { Context } from '../../kernel/contract/context.ts'
import { addMs } from '../../values/clock.ts'
import { revokeAssistantToken } from '../agent-tokens/index.ts'
import { revokeOpenMandate } from '../mandates/index.ts'
import { assistantEvent, type endedGrantEvents } from './events.ts'
import { ENDED_GRANT_RETENTION_MS, type GrantEndReason, grantMachine, type OauthGrant } from './grant.ts'

export type GrantEndContext = Pick<
  Context<never, typeof endedGrantEvents>,
  'records' | 'tenant' | 'now' | 'emit' | 'wake'
>

/** Ends tokens and mandate with the grant. The caller has locked the agent and then the grant. */
export async function endGrant(
  grant: OauthGrant,
  because: GrantEndReason,
  context: GrantEndContext,
): Promise<void> {
  if (!grantMachine.move(grant, 'ended')) return
  const { now, emit } = context
  Object.assign(grant, {
    endedAt: now,
    endedBecause: because,
    dueAt: null,
    forgetAt: addMs(now, ENDED_GRANT_RETENTION_MS),
  })
  emit('assistant.disconnected', assistantEvent(grant))
  if (grant.mandateId) await revokeOpenMandate(grant.mandateId, 'The assistant was disconnected.', context)
  if (grant.tokenId) await revokeAssistantToken(grant.tokenId, context)
}
