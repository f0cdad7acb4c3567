import { describe, expect, test } from '@jest/globals'
import { policyRuleTable } from '../../src/control/rules/decide.ts'
import { aCard } from '../support/cards/cards.ts'
import { aKey, anAgentUnder, anIntent, aPolicy, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService({ own: true })

async function anOwnerWithAgent(rules: Parameters<typeof anAgentUnder>[1]) {
  const owner = await service.owner()
  const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 50, ...rules })
  return { ...owner, agent, id: agent.id }
}

describe('comparing what was charged', () => {
  test.each([
    ['finds no mismatch in what was declared', 20, 'Bookshop', []],
    ['finds no mismatch in less, by the same merchant in other letters', 12, ' BOOKSHOP ', []],
    ['finds no mismatch up to the tolerance', 22, 'Bookshop', []],
    ['finds a cent above the tolerance', 22.01, 'Bookshop', ['amount']],
    ['finds another merchant', 20, 'Bookshop GmbH', ['merchant']],
    ['finds too much charged by another merchant', 30, 'Library', ['amount', 'merchant']],
  ])('%s', async (_, actualAmountEuros, actualMerchant, mismatches) => {
    const { client, id } = await anOwnerWithAgent({ amountTolerancePercent: 10 })
    const intent = await anIntent(client, id, { amountEuros: 20 })
    const params = { id: intent.id }
    const body = { actualAmountEuros, actualMerchant }
    const answer = await bodyOf(client.intents.verify({ params, body }))
    expect(answer.verified).toBe(mismatches.length === 0)
    expect(answer.mismatches.map(({ field }) => field)).toEqual(mismatches)
    const { data } = await bodyOf(client.events.list({ query: { event: 'verification.mismatch' } }))
    expect(data.map(({ data }) => data)).toEqual(
      mismatches.length === 0 ? [] : [expect.objectContaining({ intentId: intent.id, ...body, mismatches })],
    )
    expect(await bodyOf(client.intents.get({ params }))).toEqual(intent)
  })

  test('is refused for an intent that is not approved, a stranger and a key without the scope', async () => {
    const { client, id } = await anOwnerWithAgent({})
    const params = { id: (await anIntent(client, id, { amountEuros: 60 })).id }
    const body = { actualAmountEuros: 60, actualMerchant: 'Bookshop' }
    expect((await client.intents.verify({ params, body })).code).toBe('intent_not_approved')
    const stranger = await service.owner()
    expect((await stranger.client.intents.verify({ params, body })).status).toBe(404)
    const reader = service.client(String((await aKey(client, { scopes: ['intents:read'] })).key))
    expect((await reader.intents.verify({ params, body })).status).toBe(403)
  })
})

describe('an explanation', () => {
  test('says what each rule decided, and what would have to change for an approval', async () => {
    const { client, id, agent } = await anOwnerWithAgent({ dailyLimitEuros: 20, lockToFirstMerchant: true })
    const params = { id: (await anIntent(client, id, { amountEuros: 20.01 })).id }
    const explanation = await bodyOf(client.intents.explanation({ params }))
    const reason = 'The daily limit of € 20.00 is too low for € 20.01: € 0.00 used, € 20.00 left.'
    expect(explanation).toMatchObject({
      intentId: params.id,
      summary: `The intent was denied: ${reason}`,
      policy: { policyId: agent.policyId, version: 1, changedSince: false },
      note: null,
    })
    expect(explanation.rules).toHaveLength(policyRuleTable.length)
    const ruleNamed = (name: string) => explanation.rules.find(({ rule }) => rule === name)
    expect(ruleNamed('dailyLimitEuros')).toMatchObject({ outcome: 'fail', message: reason })
    expect(ruleNamed('dailyLimitEuros')?.remedy).toMatch(/raise the daily limit/)
    expect(ruleNamed('monthlyLimitEuros')).toEqual({
      rule: 'monthlyLimitEuros',
      outcome: 'skip',
      message: 'No monthly limit is set.',
      remedy: null,
    })
    expect(ruleNamed('lockToFirstMerchant')?.message).toMatch(/first merchant/)
    const withRemedy = explanation.rules.filter(({ remedy }) => remedy !== null)
    expect(withRemedy.map(({ outcome }) => outcome)).toEqual(['fail'])
  })

  test('says that the policy has changed before or after the approval', async () => {
    const { client, id } = await anOwnerWithAgent({})
    const params = { id: (await anIntent(client, id, { amountEuros: 60 })).id }
    const waiting = await bodyOf(client.intents.explanation({ params }))
    expect(waiting.summary).toMatch(/^The intent waits for a person: € 60.00 is above/)
    const assign = async () => {
      const { id: policyId } = await aPolicy(client, { autoApproveLimitEuros: 10 })
      await bodyOf(client.policies.assign({ params: { agentId: id }, body: { policyId } }))
    }
    await assign()
    expect((await bodyOf(client.intents.explanation({ params }))).note).toMatch(/from version 1 to version 2/)
    await bodyOf(client.intents.approve({ params, body: { comment: 'Go ahead' } }))
    const approved = await bodyOf(client.intents.explanation({ params }))
    expect(approved).toMatchObject({
      summary: 'The intent is approved: a person decided, with the comment: Go ahead',
      policy: { version: 2, changedSince: false },
      note: 'The intent was declared under version 1 and decided again under version 2, which counts.',
    })
    expect(approved.decisionId).not.toBe(waiting.decisionId)
    const remedyOf = ({ rules }: typeof approved) =>
      rules.find(({ rule }) => rule === 'autoApproveLimitEuros')?.remedy
    expect([remedyOf(waiting), remedyOf(approved)]).toEqual([
      expect.stringMatching(/Have a person approve it/),
      null,
    ])
    await assign()
    expect((await bodyOf(client.intents.explanation({ params }))).policy?.changedSince).toBe(true)
  })

  test('says how an intent was cancelled or has expired', async () => {
    const { client, id } = await anOwnerWithAgent({})
    const declare = async (amountEuros: number, merchant: string) => {
      const intent = await anIntent(client, id, { amountEuros, merchant, expiresInMinutes: 1 })
      return { params: { id: intent.id } }
    }
    const cancelled = await declare(10, 'A')
    const cancelledWithComment = await declare(10, 'B')
    const waiting = await declare(60, 'C')
    const approved = await declare(10, 'D')
    await bodyOf(client.intents.cancel(cancelled))
    await bodyOf(client.intents.cancel({ ...cancelledWithComment, body: { comment: 'Too late' } }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    const intents = [cancelled, cancelledWithComment, waiting, approved]
    const explanations = await Promise.all(intents.map(intent => bodyOf(client.intents.explanation(intent))))
    expect(explanations.map(({ summary }) => summary)).toEqual([
      'The intent was cancelled.',
      'The intent was cancelled. The last comment: Too late',
      expect.stringMatching(/^The intent expired before a person decided: € 60.00 is above/),
      'The intent has expired: it was approved, but not paid in time.',
    ])
  })

  test('says of an open intent whether its card can pay, as the card is now', async () => {
    const { client, id } = await anOwnerWithAgent({})
    const { id: cardId } = await aCard(client, { agentId: id, activate: false })
    const params = { id: cardId }
    const declare = async (amountEuros: number) => {
      const body = { amountEuros, merchant: `Shop ${amountEuros}`, purpose: 'A book', cardId }
      return bodyOf(client.intents.create({ body: { ...body, agentId: id } }))
    }
    const checkOf = ({ decision }: Awaited<ReturnType<typeof declare>>) =>
      decision.checks.find(({ rule }) => rule === 'cardStatus')
    const summaryOf = async (intentId: string) =>
      (await bodyOf(client.intents.explanation({ params: { id: intentId } }))).summary
    const inactive = `The card ${cardId} is inactive: no payment can be made with it until it is activated (POST /cards/${cardId}/activate).`
    const frozen = `The card ${cardId} is frozen: no payment can be made with it until it is unfrozen (POST /cards/${cardId}/unfreeze).`
    const first = await declare(20)
    expect([first.status, checkOf(first)]).toEqual([
      'approved',
      expect.objectContaining({ outcome: 'skip', message: inactive }),
    ])
    expect(await summaryOf(first.id)).toMatch(inactive)
    await bodyOf(client.cards.activate({ params }))
    expect(checkOf(await declare(21))).toMatchObject({
      outcome: 'pass',
      message: `The card ${cardId} is active.`,
    })
    expect(await summaryOf(first.id)).not.toContain(cardId)
    await bodyOf(client.cards.freeze({ params, body: {} }))
    const simulated = await bodyOf(
      client.intents.simulate({ body: { agentId: id, amountEuros: 22, merchant: 'Shop', cardId } }),
    )
    expect([simulated.allowed, simulated.checks.find(({ rule }) => rule === 'cardStatus')?.message]).toEqual([
      true,
      frozen,
    ])
    const waiting = await declare(60)
    expect([waiting.status, await summaryOf(waiting.id)]).toEqual([
      'created',
      expect.stringContaining(frozen),
    ])
    const approved = await bodyOf(client.intents.approve({ params: { id: waiting.id } }))
    expect([approved.status, checkOf(approved)?.message]).toEqual(['approved', frozen])
    await bodyOf(client.intents.cancel({ params: { id: waiting.id } }))
    expect(await summaryOf(waiting.id)).toBe('The intent was cancelled.')
  })

  test('is not found by another owner', async () => {
    const { client, id } = await anOwnerWithAgent({})
    const params = { id: (await anIntent(client, id)).id }
    const stranger = await service.owner()
    expect((await stranger.client.intents.explanation({ params })).status).toBe(404)
  })
})
