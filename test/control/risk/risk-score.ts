import { describe, expect, test } from '@jest/globals'
import { distanceBetween } from '../../../src/control/risk/centroids.ts'
import { blank, count, declaredIn, learn, type Profile } from '../../../src/control/risk/profile.ts'
import { defaults, score } from '../../../src/control/risk/score.ts'
import { type Scene, signals } from '../../../src/control/risk/signals.ts'
import { minutes } from '../../../src/values/clock.ts'
import { countries } from '../../../src/values/countries.ts'

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
