import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { formatMinute } from '../../values/minute.ts'
import { findAgent, lockAgent } from '../agents/index.ts'
import { agentProcess } from '../agents/process.ts'
import type { policySteps } from './api.ts'
import { effectivePolicy, lockPolicy, policyEvent } from './policy-versioning.ts'

/** What the run of an agent reads, whose policy may have an end. */
export async function policyEndStatus(id: string, { em, now }: ReadContext) {
  const agent = await findAgent(em, id)
  if (!agent) return undefined
  const end = (await effectivePolicy(em, agent.id))?.pendingEnd() ?? null
  const summary = end
    ? `the policy ends ${end.toISOString().slice(0, 16).replace('T', ' ')} UTC`
    : 'nothing is pending'
  return {
    status: agent.status,
    summary: `Agent in ${agent.mode} mode: ${summary}`,
    closed: end === null,
    dueInMs: end && end.getTime() - now.getTime(),
    deadline: end && formatMinute(end),
    signals: [],
  }
}

/** Ends the policy of an agent that is due, by the tenant's clock. */
export async function expirePolicy(
  agentId: string,
  { em, now, emit, wake }: WriteContext<(typeof policySteps.expire)['emits']>,
): Promise<void> {
  const agent = await lockAgent(em, agentId)
  const policy = agent?.policyId ? await lockPolicy(em, agent.policyId) : null
  if (!policy?.expire(now)) return
  emit('policy.expired', { ...policyEvent(policy), agentId, action: policy.expirationAction })
  wake(agentProcess, { id: agentId, agentId })
}
