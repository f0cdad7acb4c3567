import { describe, expect, test } from '@jest/globals'
import { aPayingCard, networkBefore } from '../../support/cards/network.ts'
import { decideAgain, expectSameDecisions } from '../../support/control/decide-again.ts'
import { anIntent } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const { client } = await service.owner()
const network = networkBefore(service)

const cards = [
  {},
  { limits: { maxTransactionEuros: 20 } },
  { limits: { dailyLimitEuros: 30 } },
  { controls: { allowedCountries: ['FR'] } },
  { controls: { merchantBlocklist: ['Bookshop'] } },
  { controls: { mccCategories: ['travel'] } },
]
const policies = [
  { maxTransactionEuros: 25 },
  { requireIntent: true },
  { autoApproveLimitEuros: 15, allowedMccs: ['5942'] },
]

describe('decisions with the terms of a card', () => {
  test('replay to the same ruling from their rows, and pay nothing that they would not pay without the card', async () => {
    for (const rules of policies)
      for (const card of cards) {
        const paying = await aPayingCard(client, 200, { rules, card })
        const cardId = paying.card.id
        for (const euros of [10, 22]) await network.authorize(cardId, euros)
        await anIntent(client, paying.agent.id, { amountEuros: 12, cardId })
        for (const country of ['DE', null]) await network.authorize(cardId, 12, { country })
      }
    const stored = (await expectSameDecisions(service)).filter(({ request }) => request.card)
    const ofCards = stored.filter(({ request }) => request.kind === 'card')
    expect(ofCards.length).toBe(policies.length * cards.length * 4)
    expect(ofCards.some(({ request }) => request.intentId)).toBe(true)
    for (const { request, counters, rules, result } of stored) {
      const { allowed, requiresApproval } = result as { allowed: boolean; requiresApproval: boolean }
      if (!allowed || requiresApproval) continue
      const without = decideAgain({ request: { ...request, card: null }, counters }, rules)
      expect([without.allowed, without.requiresApproval]).toEqual([true, false])
    }
  })
})
