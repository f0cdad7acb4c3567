import { describe, expect, test } from '@jest/globals'
import {
  countDeclaredSpend,
  declaredWithinMinutes,
  emptyRiskProfile,
  learnApprovedSpend,
  type RiskProfile,
} from '../../../src/control/risk/profile.ts'
import { defaultRiskSettings, scoreRisk } from '../../../src/control/risk/score.ts'
import { countryDistanceKm, type RiskSignalInput, riskSignals } from '../../../src/control/risk/signals.ts'
import { minutes } from '../../../src/values/clock.ts'
import { countries } from '../../../src/values/countries.ts'
import { roundCents } from '../../../src/values/money.ts'

const NOON = new Date('2026-11-20T12:00:00.000Z')
const noonAnd = (milliseconds: number): Date => new Date(NOON.getTime() + milliseconds)
const profileWith = (members: Partial<RiskProfile>): RiskProfile => ({
  ...emptyRiskProfile('agent_1'),
  ...members,
})
const spending = (cents: number, country: string | null = null) => ({
  amountCents: roundCents(cents),
  merchant: 'Bookshop',
  country,
})
const input = (members: Partial<RiskSignalInput>): RiskSignalInput => ({
  spend: spending(2_000),
  at: NOON,
  profile: emptyRiskProfile('agent_1'),
  isKnownMerchant: true,
  velocityLimit: { velocityWindowMinutes: 10, velocityCount: 3 },
  ...members,
})
const profileOfAmounts = (...amounts: [cents: number, times: number][]) =>
  profileWith({ amounts: amounts.flatMap(([cents, n]) => Array<number>(n).fill(cents)) })
const profileOfHours = (hours: Record<number, number>) =>
  profileWith({ hours: Array.from({ length: 24 }, (_, hour) => hours[hour] ?? 0) })
const profileLastIn = (lastCountry: string, minutesAgo: number) =>
  profileWith({ lastCountry, lastAt: noonAnd(-minutes(minutesAgo)) })

describe('a signal', () => {
  test.each<[string, keyof typeof riskSignals, Partial<RiskSignalInput>, unknown]>([
    ['is silent at the limit', 'velocity', { profile: profileWith({ counts: [1, 2] }) }, undefined],
    [
      'counts one spend above the limit',
      'velocity',
      { profile: profileWith({ counts: [2, 2] }) },
      '4 spends were declared within 10 minutes, more than 3.',
    ],
    [
      'does not count what lies before the window',
      'velocity',
      { profile: profileWith({ counts: [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] }) },
      undefined,
    ],
    [
      'is silent with little history',
      'amountOutlier',
      { spend: spending(900_000), profile: profileOfAmounts([100, 19]) },
      undefined,
    ],
    [
      'is silent at the limit of amounts that hardly deviate',
      'amountOutlier',
      { spend: spending(2_200), profile: profileOfAmounts([1_000, 20]) },
      undefined,
    ],
    [
      'speaks a cent above that limit',
      'amountOutlier',
      { spend: spending(2_201), profile: profileOfAmounts([1_000, 20]) },
      '€ 22.01 is far more than the agent usually spends, € 10.00.',
    ],
    [
      'is silent among amounts that deviate much',
      'amountOutlier',
      { spend: spending(5_000), profile: profileOfAmounts([500, 10], [1_000, 10], [1_500, 10]) },
      undefined,
    ],
    [
      'is not hidden by a few great amounts',
      'amountOutlier',
      { spend: spending(50_000), profile: profileOfAmounts([1_000, 20], [60_000, 9]) },
      '€ 500.00 is far more than the agent usually spends, € 10.00.',
    ],
    [
      'is silent about a smaller amount',
      'amountOutlier',
      { spend: spending(1), profile: profileOfAmounts([100_000, 64]) },
      undefined,
    ],
    [
      'speaks of an ocean crossed in an hour',
      'impossibleTravel',
      { spend: spending(1, 'US'), profile: profileLastIn('DE', 60) },
      expect.stringMatching(/^DE and US are \d{4} km and 60 minutes apart\.$/),
    ],
    [
      'is silent about an ocean crossed in half a day',
      'impossibleTravel',
      { spend: spending(1, 'US'), profile: profileLastIn('DE', 600) },
      undefined,
    ],
    [
      'is silent about a border crossed',
      'impossibleTravel',
      { spend: spending(1, 'NL'), profile: profileLastIn('BE', 0) },
      undefined,
    ],
    [
      'is silent in the same country',
      'impossibleTravel',
      { spend: spending(1, 'DE'), profile: profileLastIn('DE', 0) },
      undefined,
    ],
    ['is silent without a last country', 'impossibleTravel', { spend: spending(1, 'US') }, undefined],
    ['is silent without a country', 'impossibleTravel', { profile: profileLastIn('DE', 0) }, undefined],
    ['is silent about a known merchant', 'newMerchant', {}, undefined],
    [
      'speaks of an unknown merchant',
      'newMerchant',
      { isKnownMerchant: false },
      'The agent has never paid this merchant.',
    ],
    ['is silent with few spends', 'oddHour', { profile: profileOfHours({ 3: 49 }) }, undefined],
    [
      'speaks of noon for an agent that spends at night',
      'oddHour',
      { profile: profileOfHours({ 3: 100 }) },
      'The agent hardly ever spends around 12:00 UTC.',
    ],
    [
      'is silent an hour beside a usual one',
      'oddHour',
      { profile: profileOfHours({ 3: 50, 13: 1 }) },
      undefined,
    ],
    [
      'is silent across midnight',
      'oddHour',
      { at: new Date('2026-11-20T00:10:00Z'), profile: profileOfHours({ 23: 50 }) },
      undefined,
    ],
  ])('%s: %s', (_, name, members, message) => {
    expect(riskSignals[name](input(members))).toEqual(message)
  })

  test('impossibleTravel knows where every country is', () => {
    for (const country of countries) expect(countryDistanceKm('DE', country)).toBeGreaterThanOrEqual(0)
    expect(countryDistanceKm('FR', 'DE')).toBeLessThan(1_000)
    expect(countryDistanceKm('ES', 'NZ')).toBeGreaterThan(19_000)
    expect(countryDistanceKm('FJ', 'WS')).toBeLessThan(1_600)
  })
})

describe('a profile', () => {
  test('counts by clock minutes, and forgets those before the last hour', () => {
    const profile = emptyRiskProfile('agent_1')
    const declaredCounts = [0, 0.5, 1, 9.5, 10, 70, 10_000].map(minute => {
      countDeclaredSpend(profile, noonAnd(minutes(minute)))
      return declaredWithinMinutes(profile, 10)
    })
    expect(declaredCounts).toEqual([1, 2, 3, 4, 3, 1, 1])
    expect(profile.counts.length).toBeLessThanOrEqual(60)
  })

  test('counts a spend of a late clock in the present minute', () => {
    const profile = emptyRiskProfile('agent_1')
    for (const minute of [5, 3]) countDeclaredSpend(profile, noonAnd(minutes(minute)))
    expect(profile.counts[0]).toBe(2)
  })

  test('remembers 64 amounts, and the country of the latest spend', () => {
    const profile = emptyRiskProfile('agent_1')
    for (let n = 1; n <= 70; n++) learnApprovedSpend(profile, spending(n, 'DE'), NOON)
    learnApprovedSpend(profile, spending(71, 'US'), noonAnd(-1))
    learnApprovedSpend(profile, spending(72), noonAnd(1))
    expect(profile.amounts).toEqual(Array.from({ length: 64 }, (_, n) => n + 9))
    expect([profile.lastCountry, profile.lastAt, profile.hours[12]]).toEqual(['DE', NOON, 71])
  })
})

describe('a score', () => {
  const unusualInAllWays = {
    spend: spending(900_000, 'US'),
    profile: {
      ...profileOfAmounts([100, 64]),
      ...profileLastIn('DE', 1),
      amounts: Array<number>(64).fill(100),
      counts: [601],
    },
    isKnownMerchant: false,
  }
  test.each<[string, Partial<RiskSignalInput>, number, string]>([
    ['nothing unusual', {}, 0, 'pass'],
    ['an unknown merchant', { isKnownMerchant: false }, 10, 'pass'],
    ['an unusual amount', { spend: spending(900_000), profile: profileOfAmounts([100, 64]) }, 40, 'pass'],
    [
      'an unusual amount at an unknown merchant',
      { ...unusualInAllWays, spend: spending(900_000), profile: profileOfAmounts([100, 64]) },
      50,
      'review',
    ],
    [
      'an unusual amount in an impossible place',
      { ...unusualInAllWays, profile: { ...unusualInAllWays.profile, counts: [] }, isKnownMerchant: true },
      80,
      'deny',
    ],
    ['everything', unusualInAllWays, 100, 'freeze'],
  ])('of %s', (_, members, points, outcome) => {
    expect(scoreRisk(input(members), defaultRiskSettings)).toMatchObject({ score: points, outcome })
  })

  test('adds up its signals, and leaves out those of weight 0', () => {
    const { parts } = scoreRisk(input(unusualInAllWays), defaultRiskSettings)
    expect(parts.map(({ signal }) => signal)).toEqual([
      'velocity',
      'amountOutlier',
      'impossibleTravel',
      'newMerchant',
    ])
    const weights = { ...defaultRiskSettings.weights, velocity: 0, newMerchant: 0, amountOutlier: 0 }
    expect(scoreRisk(input(unusualInAllWays), { ...defaultRiskSettings, weights }).score).toBe(40)
  })
})
