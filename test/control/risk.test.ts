import './risk/risk-score.ts'
import './risk/risk-freeze.ts'
import { describe, expect, test } from '@jest/globals'
import { defaultRiskSettings } from '../../src/control/risk/score.ts'
import { statusCounts, times } from '../support/at-once.ts'
import { expectSameDecisions } from '../support/control/decide-again.ts'
import { onlySignal, riskFixtures } from '../support/control/risk.ts'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService({ own: true })
const elsewhere = await service.another()
const { riskEventsOf, eventNamesOf, anAssessedAgent } = riskFixtures(service, elsewhere)

describe('the default settings', () => {
  test('let a new merchant pass, and show its score in the decision', async () => {
    const { declare, id } = await anAssessedAgent()
    expect((await declare()).decision).toMatchObject({ riskScore: 10, allowed: true })
    expect((await declare({ merchant: 'BOOKSHOP' })).decision.riskScore).toBe(0)
    expect(await eventNamesOf(id)).toEqual([])
  })

  test('send an unusual amount at a new merchant to a person, and learn it once it is approved', async () => {
    const { declare, client, id } = await anAssessedAgent()
    for (let n = 0; n < 20; n++) await declare()
    const atKnownMerchant = await declare({ amountEuros: 500 })
    expect(atKnownMerchant).toMatchObject({ status: 'approved', decision: { riskScore: 40 } })
    const waiting = await declare({ amountEuros: 500, merchant: 'Jeweller' })
    expect(waiting).toMatchObject({
      status: 'created',
      decision: {
        riskScore: 50,
        reason: expect.stringMatching(
          /^The risk is 50 of 100\. € 500\.00 is far more .+, € 10\.\d\d \(40\)\. The agent .+ merchant \(10\)\.$/,
        ),
      },
    })
    expect(await riskEventsOf(id)).toEqual([
      {
        event: 'risk.review_required',
        data: {
          agentId: id,
          intentId: waiting.id,
          score: 50,
          signals: [
            { signal: 'amountOutlier', points: 40 },
            { signal: 'newMerchant', points: 10 },
          ],
        },
      },
    ])
    const approved = await bodyOf(client.intents.approve({ params: { id: waiting.id } }))
    expect(approved.decision).toMatchObject({ riskScore: 50, allowed: true })
    expect((await declare({ amountEuros: 400, merchant: 'jeweller' })).status).toBe('approved')
    const { data } = await bodyOf(client.risk.events({ query: { agentId: id } }))
    expect(data.map(({ outcome, score }) => [outcome, score])).toEqual([
      ['pass', 40],
      ['review', 50],
      ['pass', 40],
    ])
    expect(data[1]).toMatchObject({
      subjectType: 'intent',
      subjectId: waiting.id,
      decisionId: waiting.decision.id,
      alertId: null,
      amountEuros: 500,
      merchant: 'Jeweller',
      comment: null,
      signals: [{ message: expect.stringMatching(/far more/) }, { signal: 'newMerchant', points: 10 }],
    })
    const severe = await bodyOf(
      client.risk.events({ query: { minScore: 50, from: data[1]?.createdAt ?? '' } }),
    )
    expect(severe.data.map(event => event.id)).toEqual([data[1]?.id])
    expect((await bodyOf(client.risk.events({ query: { to: data[2]?.createdAt ?? '' } }))).data).toEqual([])
  })

  test('report an impossible place, and none half a day later', async () => {
    const { declare, client, id } = await anAssessedAgent()
    await declare({ country: 'DE' })
    expect(await declare({ country: 'US' })).toMatchObject({
      status: 'approved',
      decision: { riskScore: 40 },
    })
    expect(await eventNamesOf(id)).toEqual(['risk.geo_impossible'])
    await bodyOf(client.sandbox.advance({ body: { minutes: 700 } }))
    expect((await declare({ country: 'DE' })).decision.riskScore).toBe(0)
  })
})

describe('a score', () => {
  test('a risk at the threshold denies a spend that all rules allow', async () => {
    const { declare, id, readAgent } = await anAssessedAgent(onlySignal('newMerchant', 80))
    const denied = await declare()
    expect(denied).toMatchObject({ status: 'denied', decision: { allowed: false, riskScore: 80 } })
    expect(await eventNamesOf(id)).toEqual(['risk.denied'])
    expect((await readAgent()).status).toBe('active')
    // A denied spend is not learnt.
    expect((await declare()).status).toBe('denied')
  })

  test('sends spends above the velocity to a person until the window has passed', async () => {
    const { declare, client, id } = await anAssessedAgent({
      ...onlySignal('velocity', 50),
      velocityCount: 3,
      velocityWindowMinutes: 5,
    })
    const statuses = []
    for (let n = 0; n < 4; n++) statuses.push((await declare()).status)
    expect(statuses).toEqual(['approved', 'approved', 'approved', 'created'])
    expect(await eventNamesOf(id)).toEqual(['risk.review_required', 'risk.velocity_alert'])
    await bodyOf(client.sandbox.advance({ body: { minutes: 5 } }))
    expect((await declare()).status).toBe('approved')
  })

  test('is absent if the owner has switched scoring off, and profiles go on learning', async () => {
    const { declare, client } = await anAssessedAgent({ ...onlySignal('newMerchant', 95), enabled: false })
    const { decision } = await declare()
    expect(decision.riskScore).toBe(null)
    expect(decision.checks.map(({ rule }) => rule)).not.toContain('risk')
    await bodyOf(client.risk.configure({ body: onlySignal('newMerchant', 95) }))
    expect((await declare()).status).toBe('approved')
  })
})

describe('the configuration', () => {
  test('has the defaults until it is set, and again for members that are left out', async () => {
    const { client } = await service.owner()
    expect(await bodyOf(client.risk.config())).toEqual({ ...defaultRiskSettings, updatedAt: null })
    const configured = await bodyOf(
      client.risk.configure({ body: { thresholds: { review: 40, deny: 40, freeze: 40 } } }),
    )
    expect(configured).toEqual({
      ...defaultRiskSettings,
      thresholds: { review: 40, deny: 40, freeze: 40 },
      updatedAt: expect.stringMatching(/^20/),
    })
    expect(await bodyOf(client.risk.config())).toEqual(configured)
    const configuredAgain = await bodyOf(
      client.risk.configure({ body: { thresholds: configured.thresholds } }),
    )
    expect(await bodyOf(client.risk.config())).toEqual(configuredAgain)
    await bodyOf(client.risk.configure({ body: { velocityCount: 5, weights: { oddHour: 0 } } }))
    expect(await bodyOf(client.risk.config())).toMatchObject({
      thresholds: defaultRiskSettings.thresholds,
      velocityCount: 5,
      weights: { ...defaultRiskSettings.weights, oddHour: 0 },
    })
  })

  test.each<[string, object]>([
    ['thresholds.deny', { thresholds: { review: 60, deny: 59 } }],
    ['thresholds.freeze', { thresholds: { deny: 80, freeze: 79 } }],
    ['thresholds.review', { thresholds: { review: -1 } }],
    ['thresholds.freeze', { thresholds: { freeze: 101 } }],
    ['weights.colour', { weights: { colour: 1 } }],
    ['weights.velocity', { weights: { velocity: 1.5 } }],
    ['velocityWindowMinutes', { velocityWindowMinutes: 61 }],
    ['velocityCount', { velocityCount: 0 }],
  ])('refuses a wrong %s by name, and stays as it was', async (name, body) => {
    const { client } = await service.owner()
    const answer = await client.risk.configure({ body })
    expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(name)])
    expect((await bodyOf(client.risk.config())).updatedAt).toBe(null)
  })

  test('has one row, whichever of eight requests is first', async () => {
    const { client, ownerId } = await service.owner()
    const answers = await times(8, n => client.risk.configure({ body: { velocityCount: n + 1 } }))
    expect(statusCounts(answers)).toEqual({ 200: 8 })
    expect(await service.sql('select 1 from risk_configs where owner_id = $1', [ownerId])).toHaveLength(1)
  })
})

test('every decision of these tests replays to the same result', async () => {
  const unusual = (await expectSameDecisions(service)).filter(
    ({ request }) => request.risk && request.risk.outcome !== 'pass',
  )
  expect(unusual.length).toBeGreaterThan(4)
})
