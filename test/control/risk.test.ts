import './risk/risk-score.ts'
import './risk/risk-freeze.ts'
import { describe, expect, test } from '@jest/globals'
import { defaults } from '../../src/control/risk/score.ts'
import { expectSameDecisions } from '../support/control/decide-again.ts'
import { only, riskIn } from '../support/control/risk.ts'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { statusCounts, times } from '../support/sample-service.ts'

const service = await startTestService()
const elsewhere = await service.another()
const { happened, namesOf, someone } = riskIn(service, elsewhere)

describe('by default', () => {
  test('a new merchant stops nothing, and is in the decision', async () => {
    const { declare, id } = await someone()
    expect((await declare()).decision).toMatchObject({ riskScore: 10, allowed: true })
    expect((await declare({ merchant: 'BOOKSHOP' })).decision.riskScore).toBe(0)
    expect(await namesOf(id)).toEqual([])
  })

  test('an unusual amount at a new merchant is a person’s, and learnt once it is approved', async () => {
    const { declare, client, id } = await someone()
    for (let n = 0; n < 20; n++) await declare()
    const known = await declare({ amountEuros: 500 })
    expect(known).toMatchObject({ status: 'approved', decision: { riskScore: 40 } })
    const waits = await declare({ amountEuros: 500, merchant: 'Jeweller' })
    expect(waits).toMatchObject({
      status: 'created',
      decision: {
        riskScore: 50,
        reason: expect.stringMatching(
          /^The risk is 50 of 100\. € 500\.00 is far more .+, € 10\.\d\d \(40\)\. The agent .+ merchant \(10\)\.$/,
        ),
      },
    })
    expect(await happened(id)).toEqual([
      {
        event: 'risk.review_required',
        data: {
          ...{ agentId: id, intentId: waits.id, score: 50 },
          signals: [
            { signal: 'amountOutlier', points: 40 },
            { signal: 'newMerchant', points: 10 },
          ],
        },
      },
    ])
    const approved = await bodyOf(client.intents.approve({ params: { id: waits.id } }))
    expect(approved.decision).toMatchObject({ riskScore: 50, allowed: true })
    expect((await declare({ amountEuros: 400, merchant: 'jeweller' })).status).toBe('approved')
    const { data } = await bodyOf(client.risk.events({ query: { agentId: id } }))
    expect(data.map(one => [one.outcome, one.score])).toEqual([
      ['pass', 40],
      ['review', 50],
      ['pass', 40],
    ])
    expect(data[1]).toMatchObject({
      ...{ subjectType: 'intent', subjectId: waits.id, decisionId: waits.decision.id, alertId: null },
      ...{ amountEuros: 500, merchant: 'Jeweller', comment: null },
      signals: [{ message: expect.stringMatching(/far more/) }, { signal: 'newMerchant', points: 10 }],
    })
    const severe = await bodyOf(
      client.risk.events({ query: { minScore: 50, from: data[1]?.createdAt ?? '' } }),
    )
    expect(severe.data.map(({ id: one }) => one)).toEqual([data[1]?.id])
    expect((await bodyOf(client.risk.events({ query: { to: data[2]?.createdAt ?? '' } }))).data).toEqual([])
  })

  test('an impossible place is told of, and possible half a day later', async () => {
    const { declare, client, id } = await someone()
    await declare({ country: 'DE' })
    expect(await declare({ country: 'US' })).toMatchObject({
      status: 'approved',
      decision: { riskScore: 40 },
    })
    expect(await namesOf(id)).toEqual(['risk.geo_impossible'])
    await bodyOf(client.sandbox.advance({ body: { minutes: 700 } }))
    expect((await declare({ country: 'DE' })).decision.riskScore).toBe(0)
  })
})

describe('what follows from a score', () => {
  test('is a refusal at the threshold of it, whatever else is allowed', async () => {
    const { declare, id, stands } = await someone(only('newMerchant', 80))
    const denied = await declare()
    expect(denied).toMatchObject({ status: 'denied', decision: { allowed: false, riskScore: 80 } })
    expect(await namesOf(id)).toEqual(['risk.denied'])
    expect((await stands()).status).toBe('active')
    // What was refused has taught nothing.
    expect((await declare()).status).toBe('denied')
  })

  test('is a person for who is too fast, until the window has passed', async () => {
    const { declare, client, id } = await someone({
      ...only('velocity', 50),
      ...{ velocityCount: 3, velocityWindowMinutes: 5 },
    })
    const statuses = []
    for (let n = 0; n < 4; n++) statuses.push((await declare()).status)
    expect(statuses).toEqual(['approved', 'approved', 'approved', 'created'])
    expect(await namesOf(id)).toEqual(['risk.review_required', 'risk.velocity_alert'])
    await bodyOf(client.sandbox.advance({ body: { minutes: 5 } }))
    expect((await declare()).status).toBe('approved')
  })

  test('is not looked for where the owner does not want it, and history goes on', async () => {
    const { declare, client } = await someone({ ...only('newMerchant', 95), enabled: false })
    const { decision } = await declare()
    expect(decision.riskScore).toBe(null)
    expect(decision.checks.map(({ rule }) => rule)).not.toContain('risk')
    await bodyOf(client.risk.configure({ body: only('newMerchant', 95) }))
    expect((await declare()).status).toBe('approved')
  })
})

describe('the configuration', () => {
  test('is the defaults until it is set, and what is left out has them again', async () => {
    const { client } = await service.owner()
    expect(await bodyOf(client.risk.config())).toEqual({ ...defaults, updatedAt: null })
    const set = await bodyOf(
      client.risk.configure({ body: { thresholds: { review: 40, deny: 40, freeze: 40 } } }),
    )
    expect(set).toEqual({
      ...{ ...defaults, thresholds: { review: 40, deny: 40, freeze: 40 } },
      updatedAt: expect.stringMatching(/^20/),
    })
    expect(await bodyOf(client.risk.config())).toEqual(set)
    const again = await bodyOf(client.risk.configure({ body: { thresholds: set.thresholds } }))
    expect(await bodyOf(client.risk.config())).toEqual(again)
    await bodyOf(client.risk.configure({ body: { velocityCount: 5, weights: { oddHour: 0 } } }))
    expect(await bodyOf(client.risk.config())).toMatchObject({
      ...{ thresholds: defaults.thresholds, velocityCount: 5 },
      weights: { ...defaults.weights, oddHour: 0 },
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
  ])('refuses a wrong %s, by name, and stays as it is', async (name, body) => {
    const { client } = await service.owner()
    const answer = await client.risk.configure({ body })
    expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(name)])
    expect((await bodyOf(client.risk.config())).updatedAt).toBe(null)
  })

  test('is one, whoever sets it first', async () => {
    const { client, ownerId } = await service.owner()
    const answers = await times(8, n => client.risk.configure({ body: { velocityCount: n + 1 } }))
    expect(statusCounts(answers)).toEqual({ 200: 8 })
    expect(await service.sql('select 1 from risk_configs where owner_id = $1', [ownerId])).toHaveLength(1)
  })
})

test('every decision of all these, asked again, says the same', async () => {
  const judged = (await expectSameDecisions(service)).filter(
    ({ request }) => request.risk && request.risk.outcome !== 'pass',
  )
  expect(judged.length).toBeGreaterThan(4)
})
