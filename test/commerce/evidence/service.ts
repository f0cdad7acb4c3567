import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { anAgentClient, aSpender } from '../../support/cards/reveal.ts'
import { anIntent, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

export const service = await startTestService()

export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export async function aPayer() {
  const owner = await service.owner()
  const agent = await aSpender(owner.client)
  const intent = await anIntent(owner.client, agent.id)
  return { ...owner, agent, intent, agentClient: await anAgentClient(service, owner.client, agent.id) }
}

type Body = NonNullable<Parameters<TestClient['evidence']['create']>[0]['body']>

export const keep = (client: TestClient, intentId: string, members: Partial<Body> = { text: 'Order 4711' }) =>
  client.evidence.create({ body: { intentId, type: 'confirmation', ...members } })

export const kept = (...input: Parameters<typeof keep>) => bodyOf(keep(...input))

export function filesOf(ownerId: string): string[] {
  const folder = join(service.filesDir, ownerId, 'test')
  return readdirSync(folder).map(name => join(folder, name))
}

export const save = (key: string, path: string) =>
  fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
