import { describe, expect, test } from '@jest/globals'
import type { z } from 'zod'
import { manualIdentity } from '../../../src/adapters/identity-verification/manual.ts'
import { areas } from '../../../src/areas.ts'
import { intentSearchFor } from '../../../src/cards/authorizations/incoming-message.ts'
import { allOperations } from '../../../src/kernel/contract/area.ts'
import type { Systems } from '../../../src/kernel/contract/ports.ts'
import type { CardMessageContent, CardReply } from '../../../src/ports/card-processor.ts'
import { newId } from '../../../src/values/ids.ts'
import { decodeJson } from '../../../src/values/json-names.ts'
import { cents } from '../../../src/values/money.ts'
import { times } from '../../support/at-once.ts'
import { bookshop } from '../../support/cards/network.ts'
import { sandboxWith } from '../../support/cards/sandbox.ts'
import { startEngine } from '../../support/engine.ts'

const engine = await startEngine(areas)
const processor = sandboxWith()
Object.assign(engine.runtime.ports.systems, {
  cardProcessor: () => processor,
  identityVerification: manualIdentity,
} satisfies Partial<Systems>)
const operations = allOperations(areas)

async function run(
  key: string,
  body: object,
  { params = {}, extra = {} }: { params?: Params; extra?: Extra } = {},
) {
  const schema = operations.find(operation => operation.key === key)?.operation.body as z.ZodType<object>
  const answer = await engine.run(tenant, key, { params, body: decodeJson(schema, body) }, extra)
  return JSON.parse(String(answer.body)) as { id: string; walletId: string }
}
type Params = Record<string, string>
type Extra = Parameters<typeof engine.run>[3]

let tenant = { ownerId: 'customer_1', mode: 'test' as const }

async function aPayingCard() {
  const dashboard = {
    type: 'dash',
    id: 'dash',
    tenant: null,
    agentId: null,
    scopes: new Set<string>(),
  } as const
  const customer = { name: 'O', email: 'o@example.com', type: 'business', country: 'DE', plan: 'business' }
  const { id: ownerId } = await run('keys.openAccount', customer, { extra: { actor: dashboard } })
  tenant = { ownerId, mode: 'test' }
  const policy = await run('policies.create', { name: 'P', autoApproveLimitEuros: 1_000 })
  const agent = await run('agents.create', { name: 'A', policyId: policy.id })
  await run('fund.wallet', { amountEuros: 10_000 }, { params: { id: agent.walletId } })
  const card = await run('cards.create', { agentId: agent.id, usage: 'multi' })
  const { rows } = await engine.sql('select id from card_numbers where card_id = $1', [card.id])
  return { agentId: agent.id, cardId: card.id, numberId: String(rows[0].id) }
}

const take = (card: Awaited<ReturnType<typeof aPayingCard>>, content: CardMessageContent) => {
  const message = { id: newId('message'), processorCardId: 'p', sentAt: new Date(0), content }
  const answer = (reply: CardReply) => processor.answer(message, reply)
  return engine.run(tenant, 'authorizations.take', {
    body: {
      ...card,
      ...message,
      digest: message.id,
      search: intentSearchFor(content, card),
      isTooLate: () => false,
      answer,
    },
  })
}

describe('the statements that the database is sent for messages of the card network', () => {
  const statements = () => [...new Set(engine.batches.map(batch => batch.roundTrips))]
  const largest = () => Math.max(...engine.batches.map(({ size }) => size))
  const shared = { amountCents: cents(100n), merchant: bookshop }

  test('are twenty-two for one request and for sixty-four, twenty-four for one clearing and for sixty-four', async () => {
    const card = await aPayingCard()
    const ask = (authorizationId: string) =>
      take(card, { kind: 'authorization', authorizationId, ask: 0, partialAllowed: false, ...shared })
    const clear = (authorizationId: string) =>
      take(card, { kind: 'clearing', clearingId: authorizationId, authorizationId, final: true, ...shared })
    await ask('warm')
    engine.batches.splice(0)
    await ask('one')
    await times(64, n => ask(`many ${n}`))
    expect(largest()).toBe(64)
    expect(statements()).toEqual([22])
    engine.batches.splice(0)
    await clear('one')
    await times(64, n => clear(`many ${n}`))
    expect(largest()).toBe(64)
    expect(statements()).toEqual([24])
  })
})
