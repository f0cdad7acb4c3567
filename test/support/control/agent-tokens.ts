import { anAgent, aToken, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

export function agentTokensIn(service: TestService) {
  const clientOf = ({ token }: { token: string | null }): TestClient => service.client(String(token))

  async function anOwnerWithAgent() {
    const owner = await service.owner()
    const agent = await anAgent(owner.client)
    const token = await aToken(owner.client, agent.id)
    return { ...owner, agent, token, tokenClient: clientOf(token) }
  }

  return { clientOf, anOwnerWithAgent }
}
