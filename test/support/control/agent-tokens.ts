import { anAgent, aToken, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

/** What the tests of tokens ask of their service. */
export function agentTokensIn(service: TestService) {
  const clientOf = ({ token }: { token: string | null }): TestClient => service.client(String(token))

  /** An owner with an agent, and what the agent itself calls with. */
  async function anOwnerWithAgent() {
    const owner = await service.owner()
    const agent = await anAgent(owner.client)
    const token = await aToken(owner.client, agent.id)
    return { ...owner, agent, token, itself: clientOf(token) }
  }

  return { clientOf, anOwnerWithAgent }
}
