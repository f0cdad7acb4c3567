import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { addMs } from '../../values/clock.ts'
import { revokeAssistantToken } from '../agent-tokens/index.ts'
import { lockAgentsWhere } from '../agents/index.ts'
import { cancelIntentsOfToken } from '../intents/index.ts'
import { revokeOpenMandate } from '../mandates/index.ts'
import { assistantEvent, type endedGrantEvents } from './events.ts'
import { ENDED_GRANT_RETENTION_MS, type GrantEndReason, grantMachine, OauthGrant } from './grant.ts'

const AGENT_OF =
  'id = (select g.agent_id from oauth_grants g where g.owner_id = ? and g.mode = ? and g.id = ?)'

/** Locks the agent first, as spending does. */
export async function lockGrant(id: string, { em, tenant }: WriteContext): Promise<OauthGrant | null> {
  const condition = sqlCondition(AGENT_OF, [tenant.ownerId, tenant.mode, id])
  const [, grant] = await Promise.all([
    lockAgentsWhere(em, condition),
    em.findOne(OauthGrant, { id }, FOR_UPDATE),
  ])
  return grant
}

/** Ends tokens, mandate and open intents with the grant. The caller has locked the agent and then the grant. */
export async function endGrant(
  grant: OauthGrant,
  because: GrantEndReason,
  context: WriteContext<typeof endedGrantEvents>,
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
  const { agentId, mandateId, tokenId } = grant
  const comment = 'The assistant was disconnected.'
  if (mandateId) await revokeOpenMandate(mandateId, comment, context)
  if (!tokenId) return
  await cancelIntentsOfToken({ tokenId, agentId, comment }, context)
  await revokeAssistantToken(tokenId, context)
}
