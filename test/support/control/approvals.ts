import { aFundedAgent, anAgentUnder, anIntent, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import type { Manner } from '../identity/authenticator.ts'
import { type Enrolled, enrolled, signed } from '../identity/people.ts'
import type { Rules } from './intents.ts'

export function approvalsIn(service: TestService) {
  async function anApprover(rules?: Rules) {
    const owner = await service.owner()
    const agent = await (rules ? anAgentUnder(owner.client, rules) : aFundedAgent(owner.client))
    const person = await enrolled(service, owner, { name: 'Ada Lovelace' })
    return { ...owner, agent, person, params: { agentId: agent.id } }
  }

  return { anApprover }
}

export const challengeOf = (client: TestClient, intentId: string, personId: string | null = null) =>
  bodyOf(client.intents.challenge({ params: { intentId }, body: { personId } }))

export const signatureOver = async (
  client: TestClient,
  intentId: string,
  { device }: Pick<Enrolled, 'device'>,
  manner: Manner = {},
) => signed(await challengeOf(client, intentId), device, manner)

export async function anApprovedIntent(
  client: TestClient,
  agentId: string,
  person: Pick<Enrolled, 'device'>,
  members: Parameters<typeof anIntent>[2] = {},
) {
  const { id } = await anIntent(client, agentId, members)
  const webauthnAssertion = await signatureOver(client, id, person)
  return bodyOf(client.intents.approve({ params: { id }, body: { webauthnAssertion } }))
}
