import { anAgentUnder, aToken, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

export const within = (runId: string) => ({ headers: { 'x-run-id': runId } })

export async function timelineOf(client: TestClient, id: string, limit = 100) {
  const entries = []
  for (let cursor: string | undefined; ; ) {
    const query = cursor ? { limit, cursor } : { limit }
    const page = await bodyOf(client.runs.timeline({ params: { id }, query }))
    entries.push(...page.data)
    if (!page.nextCursor) return entries
    cursor = page.nextCursor
  }
}

export function agentRunsIn(service: TestService) {
  async function anOwnerWithAgent(rules = { autoApproveLimitEuros: 50 }) {
    const owner = await service.owner()
    const agent = await anAgentUnder(owner.client, rules)
    const tokenClient = service.client(String((await aToken(owner.client, agent.id)).token))
    return { ...owner, agent, tokenClient }
  }

  return { anOwnerWithAgent }
}
