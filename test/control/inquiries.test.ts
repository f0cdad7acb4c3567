import { describe, expect, test } from '@jest/globals'
import { ruleTable } from '../../src/control/rules/decide.ts'
import { aKey, anAgentUnder, anIntent, aPolicy, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService()

async function someone(rules: Parameters<typeof anAgentUnder>[1]) {
  const owner = await service.owner()
  const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 50, ...rules })
  return { ...owner, agent, id: agent.id }
}

describe('what was charged', () => {
  test.each([
    ['as declared', 20, 'Bookshop', []],
    ['less, by the same in other letters', 12, ' BOOKSHOP ', []],
    ['up to the tolerance', 22, 'Bookshop', []],
    ['a cent above it', 22.01, 'Bookshop', ['amount']],
    ['by somebody else', 20, 'Bookshop GmbH', ['merchant']],
    ['too much, by somebody else', 30, 'Library', ['amount', 'merchant']],
  ])('%s', async (_, actualAmountEuros, actualMerchant, mismatches) => {
    const { client, id } = await someone({ amountTolerancePercent: 10 })
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

  test('is compared with what was approved only', async () => {
    const { client, id } = await someone({})
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
  test('has every rule in words, and what would have to change for a yes', async () => {
    const { client, id, agent } = await someone({ dailyLimitEuros: 20, lockToFirstMerchant: true })
    const params = { id: (await anIntent(client, id, { amountEuros: 20.01 })).id }
    const told = await bodyOf(client.intents.explanation({ params }))
    const reason = 'The daily limit of € 20.00 is too low for € 20.01: € 0.00 used, € 20.00 left.'
    expect(told).toMatchObject({
      intentId: params.id,
      summary: `It was denied: ${reason}`,
      policy: { policyId: agent.policyId, version: 1, changedSince: false },
      note: null,
    })
    expect(told.rules).toHaveLength(ruleTable.length)
    const of = (name: string) => told.rules.find(({ rule }) => rule === name)
    expect(of('dailyLimitEuros')).toMatchObject({ outcome: 'fail', message: reason })
    expect(of('dailyLimitEuros')?.remedy).toMatch(/raise the daily limit/)
    expect(of('monthlyLimitEuros')).toEqual({
      rule: 'monthlyLimitEuros',
      outcome: 'skip',
      message: 'No monthly limit is set.',
      remedy: null,
    })
    expect(of('lockToFirstMerchant')?.message).toMatch(/first merchant/)
  })

  test('says that the policy has changed, before the approval and after it', async () => {
    const { client, id } = await someone({})
    const params = { id: (await anIntent(client, id, { amountEuros: 60 })).id }
    const waiting = await bodyOf(client.intents.explanation({ params }))
    expect(waiting.summary).toMatch(/^It waits for a person: € 60.00 is above/)
    const assign = async () => {
      const { id: policyId } = await aPolicy(client, { autoApproveLimitEuros: 10 })
      await bodyOf(client.policies.assign({ params: { agentId: id }, body: { policyId } }))
    }
    await assign()
    expect((await bodyOf(client.intents.explanation({ params }))).note).toMatch(/from version 1 to version 2/)
    await bodyOf(client.intents.approve({ params, body: { comment: 'Go ahead' } }))
    const approved = await bodyOf(client.intents.explanation({ params }))
    expect(approved).toMatchObject({
      summary: 'It is approved: a person decided, and said: Go ahead',
      policy: { version: 2, changedSince: false },
      note: 'It was declared under version 1 and decided anew under version 2: the newer one counts.',
    })
    expect(approved.decisionId).not.toBe(waiting.decisionId)
    const asked = ({ rules }: typeof approved) =>
      rules.find(({ rule }) => rule === 'autoApproveLimitEuros')?.remedy
    expect([asked(waiting), asked(approved)]).toEqual([expect.stringMatching(/A person approves it/), null])
    await assign()
    expect((await bodyOf(client.intents.explanation({ params }))).policy?.changedSince).toBe(true)
  })

  test('of what has come to nothing says how', async () => {
    const { client, id } = await someone({})
    const declare = async (amountEuros: number, merchant: string) => {
      const intent = await anIntent(client, id, { amountEuros, merchant, expiresInMinutes: 1 })
      return { params: { id: intent.id } }
    }
    const [plain, said] = [await declare(10, 'A'), await declare(10, 'B')]
    const [waiting, approved] = [await declare(60, 'C'), await declare(10, 'D')]
    await bodyOf(client.intents.cancel(plain))
    await bodyOf(client.intents.cancel({ ...said, body: { comment: 'Too late' } }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    const told = [plain, said, waiting, approved].map(one => bodyOf(client.intents.explanation(one)))
    expect((await Promise.all(told)).map(({ summary }) => summary)).toEqual([
      'It was cancelled.',
      'It was cancelled. What was said last: Too late',
      expect.stringMatching(/^Its deadline has passed, and nobody had decided: € 60.00 is above/),
      'Its deadline has passed: it was approved, and not paid in time.',
    ])
  })

  test('is nobody else’s to read', async () => {
    const { client, id } = await someone({})
    const params = { id: (await anIntent(client, id)).id }
    const stranger = await service.owner()
    expect((await stranger.client.intents.explanation({ params })).status).toBe(404)
  })
})
