import type { TestClient } from '../factories.ts'
import type { Shopper } from './reveal.ts'

export const asked = ({ agent, card, filler }: Pick<Shopper, 'agent' | 'card' | 'filler'>) => ({
  agentId: agent.id,
  cardId: card.id,
  merchantScope: ['shop.example.com'],
  amountLimitEuros: 20,
  ttlSeconds: 3_600,
  fillerKeyId: filler.id,
})

type Body = Parameters<TestClient['agentCredentials']['create']>[0]['body']

export const issue = (client: TestClient, body: object, more: object = {}) =>
  client.agentCredentials.create({ body: body as Body, ...more })
