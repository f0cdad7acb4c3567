import { describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { replay } from '../../src/control/policies/stored-decision.ts'
import { distanceBetween } from '../../src/control/risk/centroids.ts'
import { blank, count, declaredIn, learn, type Profile } from '../../src/control/risk/profile.ts'
import { defaults, score } from '../../src/control/risk/score.ts'
import { type Scene, signals } from '../../src/control/risk/signals.ts'
import { client } from '../../src/derive/client.ts'
import { minutes } from '../../src/kernel/clock.ts'
import { countries } from '../../src/kernel/countries.ts'
import { aFundedAgent, anAgentUnder, anIntent, aPolicy, made, type TestClient } from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { tally, times } from '../support/pot-house.ts'

const NOON = new Date('2026-11-20T12:00:00.000Z')
const noonAnd = (milliseconds: number): Date => new Date(NOON.getTime() + milliseconds)

const profileWith = (members: Partial<Profile>): Profile => ({ ...blank('agent_1'), ...members })
const spending = (cents: number, country: string | null = null) => ({
  ...{ amountEuros: BigInt(cents), merchant: 'Bookshop', country },
})
const scene = (members: Partial<Scene>): Scene => ({
  ...{ spend: spending(2_000), at: NOON, profile: blank('agent_1'), isKnownMerchant: true },
  ...{ pace: { velocityWindowMinutes: 10, velocityCount: 3 } },
  ...members,
})
const inAll = (...amounts: [cents: number, times: number][]) =>
  profileWith({ amounts: amounts.flatMap(([cents, n]) => Array<number>(n).fill(cents)) })
const hoursWith = (hours: Record<number, number>) =>
  profileWith({ hours: Array.from({ length: 24 }, (_, hour) => hours[hour] ?? 0) })
const lastIn = (lastCountry: string, minutesAgo: number) =>
  profileWith({ lastCountry, lastAt: noonAnd(-minutes(minutesAgo)) })

describe('the signal', () => {
  test.each<[string, keyof typeof signals, Partial<Scene>, unknown]>([
    ['of three of three', 'velocity', { profile: profileWith({ counts: [1, 2] }) }, undefined],
    [
      'of four of three',
      'velocity',
      { profile: profileWith({ counts: [2, 2] }) },
      '4 spends were declared within 10 minutes, more than 3.',
    ],
    [
      'of four in eleven minutes',
      'velocity',
      { profile: profileWith({ counts: [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] }) },
      undefined,
    ],
    [
      'with little history',
      'amountOutlier',
      { spend: spending(900_000), profile: inAll([100, 19]) },
      undefined,
    ],
    [
      'at the limit of what hardly deviates',
      'amountOutlier',
      { spend: spending(2_200), profile: inAll([1_000, 20]) },
      undefined,
    ],
    [
      'a cent above it',
      'amountOutlier',
      { spend: spending(2_201), profile: inAll([1_000, 20]) },
      '€ 22.01 is far more than the agent usually spends, € 10.00.',
    ],
    [
      'among amounts that deviate much',
      'amountOutlier',
      { spend: spending(5_000), profile: inAll([500, 10], [1_000, 10], [1_500, 10]) },
      undefined,
    ],
    [
      'that a few great ones do not hide',
      'amountOutlier',
      { spend: spending(50_000), profile: inAll([1_000, 20], [60_000, 9]) },
      '€ 500.00 is far more than the agent usually spends, € 10.00.',
    ],
    ['of much less', 'amountOutlier', { spend: spending(1), profile: inAll([100_000, 64]) }, undefined],
    [
      'of an ocean in an hour',
      'impossibleTravel',
      { spend: spending(1, 'US'), profile: lastIn('DE', 60) },
      expect.stringMatching(/^DE and US are \d{4} km and 60 minutes apart\.$/),
    ],
    [
      'of an ocean in half a day',
      'impossibleTravel',
      { spend: spending(1, 'US'), profile: lastIn('DE', 600) },
      undefined,
    ],
    ['of a border', 'impossibleTravel', { spend: spending(1, 'NL'), profile: lastIn('BE', 0) }, undefined],
    ['at home', 'impossibleTravel', { spend: spending(1, 'DE'), profile: lastIn('DE', 0) }, undefined],
    ['from nowhere', 'impossibleTravel', { spend: spending(1, 'US') }, undefined],
    ['to nowhere', 'impossibleTravel', { profile: lastIn('DE', 0) }, undefined],
    ['of whom it knows', 'newMerchant', {}, undefined],
    ['of a stranger', 'newMerchant', { isKnownMerchant: false }, 'The agent has never paid this merchant.'],
    ['with few hours', 'oddHour', { profile: hoursWith({ 3: 49 }) }, undefined],
    [
      'of a night worker at noon',
      'oddHour',
      { profile: hoursWith({ 3: 100 }) },
      'The agent hardly ever spends around 12:00 UTC.',
    ],
    ['an hour beside the usual one', 'oddHour', { profile: hoursWith({ 3: 50, 13: 1 }) }, undefined],
    [
      'around midnight',
      'oddHour',
      { at: new Date('2026-11-20T00:10:00Z'), profile: hoursWith({ 23: 50 }) },
      undefined,
    ],
  ])('%s, %s', (_, name, members, said) => {
    expect(signals[name](scene(members))).toEqual(said)
  })

  test('knows where every country is', () => {
    for (const country of countries) expect(distanceBetween('DE', country)).toBeGreaterThanOrEqual(0)
    expect(distanceBetween('FR', 'DE')).toBeLessThan(1_000)
    expect(distanceBetween('ES', 'NZ')).toBeGreaterThan(19_000)
    expect(distanceBetween('FJ', 'WS')).toBeLessThan(1_600)
  })
})

describe('a profile', () => {
  test('counts in minutes of the clock, and forgets the ones before the last hour', () => {
    const profile = blank('agent_1')
    const said = [0, 0.5, 1, 9.5, 10, 70, 10_000].map(minute => {
      count(profile, noonAnd(minutes(minute)))
      return declaredIn(profile, 10)
    })
    expect(said).toEqual([1, 2, 3, 4, 3, 1, 1])
    expect(profile.counts.length).toBeLessThanOrEqual(60)
  })

  test('counts with the present what comes from a clock that is late', () => {
    const profile = blank('agent_1')
    for (const minute of [5, 3]) count(profile, noonAnd(minutes(minute)))
    expect(profile.counts[0]).toBe(2)
  })

  test('remembers sixty-four amounts, and of two countries the later one', () => {
    const profile = blank('agent_1')
    for (let n = 1; n <= 70; n++) learn(profile, spending(n, 'DE'), NOON)
    learn(profile, spending(71, 'US'), noonAnd(-1))
    learn(profile, spending(72), noonAnd(1))
    expect(profile.amounts).toEqual(Array.from({ length: 64 }, (_, n) => n + 9))
    expect([profile.lastCountry, profile.lastAt, profile.hours[12]]).toEqual(['DE', NOON, 71])
  })
})

describe('a score', () => {
  const all = {
    spend: spending(900_000, 'US'),
    profile: { ...inAll([100, 64]), ...lastIn('DE', 1), amounts: Array<number>(64).fill(100), counts: [601] },
    isKnownMerchant: false,
  }
  test.each<[string, Partial<Scene>, number, string]>([
    ['nothing', {}, 0, 'pass'],
    ['a stranger', { isKnownMerchant: false }, 10, 'pass'],
    ['an amount', { spend: spending(900_000), profile: inAll([100, 64]) }, 40, 'pass'],
    [
      'an amount at a stranger',
      { ...all, spend: spending(900_000), profile: inAll([100, 64]) },
      50,
      'review',
    ],
    [
      'an amount in an impossible place',
      { ...all, profile: { ...all.profile, counts: [] }, isKnownMerchant: true },
      80,
      'deny',
    ],
    ['everything', all, 100, 'freeze'],
  ])('of %s', (_, members, points, outcome) => {
    expect(score(scene(members), defaults)).toMatchObject({ score: points, outcome })
  })

  test('is made of its parts, and of none that weighs nothing', () => {
    const { parts } = score(scene(all), defaults)
    expect(parts.map(({ signal }) => signal)).toEqual([
      'velocity',
      'amountOutlier',
      'impossibleTravel',
      'newMerchant',
    ])
    const weights = { ...defaults.weights, velocity: 0, newMerchant: 0, amountOutlier: 0 }
    expect(score(scene(all), { ...defaults, weights }).score).toBe(40)
  })
})

const house = await startHouse()
const elsewhere = await house.another()

type Config = NonNullable<NonNullable<Parameters<TestClient['risk']['configure']>[0]>['body']>

/** An agent that nobody is asked about, unless it is for its risk, seen by two processes. */
async function someone(config: Config = {}) {
  const owner = await house.owner()
  await made(owner.client.risk.configure({ body: config }))
  const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 100_000 })
  const clients = [owner.client, client(areas, { url: elsewhere, token: owner.key })] as const
  let cents = 1_000
  const declare = (members: Parameters<typeof anIntent>[2] = {}) =>
    anIntent(owner.client, agent.id, { amountEuros: cents++ / 100, ...members })
  const params = { id: agent.id }
  const stands = async () => made(owner.client.agents.get({ params }))
  const any = (n: number) => clients[n % 2] as TestClient
  return { ...owner, agent, id: agent.id, params, declare, stands, any }
}

interface Happened {
  event: string
  data: Record<string, unknown>
}

const happened = async (agentId: string): Promise<Happened[]> =>
  house.sql<Happened & object>(
    `select event, data from events where agent_id = $1
     and (event like 'risk.%' or event in ('agent.frozen', 'agent.unfrozen')) order by id`,
    [agentId],
  )
const namesOf = async (agentId: string): Promise<string[]> =>
  (await happened(agentId)).map(({ event }) => event).toSorted()

const only = (signal: string, points: number): Config => ({
  weights: {
    velocity: 0,
    amountOutlier: 0,
    impossibleTravel: 0,
    newMerchant: 0,
    oddHour: 0,
    [signal]: points,
  },
})

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
    const approved = await made(client.intents.approve({ params: { id: waits.id } }))
    expect(approved.decision).toMatchObject({ riskScore: 50, allowed: true })
    expect((await declare({ amountEuros: 400, merchant: 'jeweller' })).status).toBe('approved')
    const { data } = await made(client.risk.events({ query: { agentId: id } }))
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
    const severe = await made(client.risk.events({ query: { minScore: 50, from: data[1]?.createdAt ?? '' } }))
    expect(severe.data.map(({ id: one }) => one)).toEqual([data[1]?.id])
    expect((await made(client.risk.events({ query: { to: data[2]?.createdAt ?? '' } }))).data).toEqual([])
  })

  test('an impossible place is told of, and possible half a day later', async () => {
    const { declare, client, id } = await someone()
    await declare({ country: 'DE' })
    expect(await declare({ country: 'US' })).toMatchObject({
      status: 'approved',
      decision: { riskScore: 40 },
    })
    expect(await namesOf(id)).toEqual(['risk.geo_impossible'])
    await made(client.sandbox.advance({ body: { minutes: 700 } }))
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
    await made(client.sandbox.advance({ body: { minutes: 5 } }))
    expect((await declare()).status).toBe('approved')
  })

  test('is not looked for where the owner does not want it, and history goes on', async () => {
    const { declare, client } = await someone({ ...only('newMerchant', 95), enabled: false })
    const { decision } = await declare()
    expect(decision.riskScore).toBe(null)
    expect(decision.checks.map(({ rule }) => rule)).not.toContain('risk')
    await made(client.risk.configure({ body: only('newMerchant', 95) }))
    expect((await declare()).status).toBe('approved')
  })
})

describe('an agent that risk has frozen', () => {
  const strict = only('newMerchant', 95)

  test('is refused what froze it, has an alert, and goes on once a person vouches for it', async () => {
    const { declare, client, id, params, stands } = await someone(strict)
    const denied = await declare()
    const reason = 'The risk is 95 of 100. The agent has never paid this merchant (95).'
    expect(denied).toMatchObject({ status: 'denied', decision: { riskScore: 95, reason } })
    expect(await stands()).toMatchObject({ status: 'frozen', frozenReason: reason })
    expect(await namesOf(id)).toEqual(['agent.frozen', 'risk.agent_frozen', 'risk.alert_created'])
    const again = await client.intents.create({
      body: { agentId: id, amountEuros: 1, merchant: 'Bookshop', purpose: 'P' },
    })
    expect([again.status, again.code]).toEqual([400, 'agent_not_active'])

    const open = await made(client.risk.alerts({ query: { status: 'open', agentId: id } }))
    expect(open.data).toEqual([
      expect.objectContaining({
        ...{ agentId: id, score: 95, subjectType: 'intent', subjectId: denied.id, liftedAt: null },
        signals: [{ signal: 'newMerchant', points: 95, message: 'The agent has never paid this merchant.' }],
      }),
    ])
    const alert = { id: String(open.data[0]?.id) }
    const frozen = (await happened(id)).find(({ event }) => event === 'risk.agent_frozen')
    expect(frozen?.data).toMatchObject({ alertId: alert.id, intentId: denied.id })

    const seen = await made(client.risk.acknowledge({ params: alert, body: { comment: 'Looking' } }))
    expect(seen).toMatchObject({ status: 'acknowledged', comment: 'Looking', acknowledgedAt: seen.updatedAt })
    expect((await client.risk.acknowledge({ params: alert })).code).toBe('alert_acknowledged')
    expect((await made(client.risk.alerts({ query: { status: 'open' } }))).data).toEqual([])
    expect((await stands()).status).toBe('frozen')

    expect(await made(client.risk.unfreeze({ params, body: { comment: 'Meant' } }))).toMatchObject({
      ...{ id, status: 'active', frozenReason: null },
    })
    expect((await declare()).status).toBe('approved')
    const [last] = (await made(client.risk.events({ query: { agentId: id } }))).data
    expect(last).toMatchObject({ outcome: 'unfreeze', alertId: alert.id, comment: 'Meant', signals: [] })
    expect((await namesOf(id)).slice(0, 2)).toEqual(['agent.frozen', 'agent.unfrozen'])
    const [lifted] = (await made(client.risk.alerts())).data
    expect(lifted?.liftedAt).toBe(last?.createdAt)
  })

  test('is frozen again by the next one like it where only its state is changed', async () => {
    const { declare, client, params, stands } = await someone(strict)
    for (let round = 1; round <= 2; round++) {
      await declare()
      expect((await stands()).status).toBe('frozen')
      await made(client.agents.unfreeze({ params }))
      const { data } = await made(client.risk.alerts())
      expect([data.length, data.filter(({ liftedAt }) => liftedAt === null).length]).toEqual([round, 0])
    }
  })

  test('is not the one whom a person has frozen', async () => {
    const { declare, client, params, stands } = await someone(strict)
    const refused = async () => {
      const { status, code, error } = await client.risk.unfreeze({ params })
      expect([status, code, error]).toEqual([
        400,
        'not_frozen_by_risk',
        expect.stringMatching(/POST \/agents\/\{id\}\/unfreeze/),
      ])
    }
    await refused()
    await declare()
    await made(client.agents.unfreeze({ params }))
    await made(client.agents.freeze({ params }))
    await refused()
    expect((await stands()).status).toBe('frozen')
  })

  test('goes on after too much at once, although it goes on in the same minute', async () => {
    const { declare, client, params, stands } = await someone({ ...only('velocity', 100), velocityCount: 2 })
    for (let n = 0; n < 3; n++) await declare()
    expect((await stands()).status).toBe('frozen')
    await made(client.risk.unfreeze({ params }))
    expect([(await declare()).status, (await declare()).status]).toEqual(['approved', 'approved'])
    expect((await declare()).status).toBe('denied')
  })

  test('in a burst on two processes spends what came before, and nothing after', async () => {
    const { client, id, any, stands } = await someone({ ...only('velocity', 100), velocityCount: 10 })
    const other = await aFundedAgent(client, {
      policyId: (await aPolicy(client, { autoApproveLimitEuros: 50 })).id,
    })
    const declare = (n: number, agentId: string) =>
      any(n).intents.create({ body: { agentId, amountEuros: n + 1, merchant: `Shop ${n}`, purpose: 'P' } })
    const [answers, others] = await Promise.all([
      times(100, n => declare(n, id)),
      times(10, n => declare(n, other.id)),
    ])
    expect(tally(answers)).toEqual({ 201: 11, 400: 89 })
    expect(answers.filter(({ body }) => body?.status === 'approved')).toHaveLength(10)
    expect(answers.filter(({ body }) => body?.status === 'denied')).toHaveLength(1)
    expect(new Set(others.map(({ body }) => body.status))).toEqual(new Set(['approved']))
    expect((await stands()).status).toBe('frozen')
    expect(await namesOf(id)).toEqual([
      'agent.frozen',
      'risk.agent_frozen',
      'risk.alert_created',
      'risk.velocity_alert',
    ])
    expect((await made(client.risk.alerts())).data).toHaveLength(1)
  })
})

describe('the configuration', () => {
  test('is the defaults until it is set, and what is left out has them again', async () => {
    const { client } = await house.owner()
    expect(await made(client.risk.config())).toEqual({ ...defaults, updatedAt: null })
    const set = await made(
      client.risk.configure({ body: { thresholds: { review: 40, deny: 40, freeze: 40 } } }),
    )
    expect(set).toEqual({
      ...{ ...defaults, thresholds: { review: 40, deny: 40, freeze: 40 } },
      updatedAt: expect.stringMatching(/^20/),
    })
    expect(await made(client.risk.config())).toEqual(set)
    await made(client.risk.configure({ body: { velocityCount: 5, weights: { oddHour: 0 } } }))
    expect(await made(client.risk.config())).toMatchObject({
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
    const { client } = await house.owner()
    const answer = await client.risk.configure({ body })
    expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(name)])
    expect((await made(client.risk.config())).updatedAt).toBe(null)
  })

  test('is one, whoever sets it first', async () => {
    const { client, ownerId } = await house.owner()
    const answers = await times(8, n => client.risk.configure({ body: { velocityCount: n + 1 } }))
    expect(tally(answers)).toEqual({ 200: 8 })
    expect(await house.sql('select 1 from risk_configs where owner_id = $1', [ownerId])).toHaveLength(1)
  })
})

test('every decision of all these, asked again, says the same', async () => {
  const rows = await house.sql<Parameters<typeof replay>[0] & { rules: object; result: object }>(
    `select d.request, d.counters, d.result, v.rules from decisions d
     left join policy_versions v on (v.policy_id, v.version) = (d.policy_id, d.policy_version)`,
  )
  expect(
    rows.filter(({ request }) => request.risk && request.risk.outcome !== 'pass').length,
  ).toBeGreaterThan(9)
  for (const { rules, result, ...inputs } of rows) {
    const { holdEuros, ...said } = replay(inputs, rules as Record<string, unknown>)
    expect({ ...said, holdEuros: String(holdEuros) }).toEqual(result)
  }
})
