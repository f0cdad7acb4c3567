import { aFundedAgent, aPolicy } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { anAssistant } from './assistant.ts'

export async function anOwnerWithAssistant(service: Pick<TestService, 'owner' | 'url'>) {
  const { client, key, ownerId } = await service.owner()
  const policy = await aPolicy(client, { autoApproveLimitEuros: 5, dailyLimitEuros: 50 })
  const agent = await aFundedAgent(client, { policyId: policy.id, name: 'Scout' })
  const { call } = await anAssistant(service.url, key)
  const propose = async (operation: string, input: object) => {
    const result = await call('call_operation', { operation, input })
    return result.structuredContent.proposal ?? result.structuredContent
  }
  return { client, key, ownerId, agent, call, propose }
}
