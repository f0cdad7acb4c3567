import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { z } from 'zod'
import { type Probed, probeRules } from '../../../src/control/policies/probe.ts'
import { compile, decide, ruleTable } from '../../../src/control/rules/decide.ts'
import { PolicyCreate } from '../../../src/control/rules/rules.ts'
import { sides } from '../../../src/control/rules/situations.ts'

type Situation = Probed['situation']
type Given = Omit<z.input<typeof PolicyCreate>, 'name'>
const policy = (rules: Given) => PolicyCreate.parse({ name: 'P', ...rules })

const NOW = new Date('2026-11-20T12:30:00.000Z')
const probed = (rules: Given) => probeRules(policy(rules), NOW)
const easy = { autoApproveLimitEuros: 1_000 }

const time = (at: Date | null | undefined) => at?.toISOString().slice(11, 16)

type Line = [rule: string, rules: Given, member: (one: Situation) => unknown, stops: unknown, passes: unknown]

const amount = (one: Situation) => one.amountEuros

describe('each rule is shown from both sides', () => {
  test.each<Line>([
    ['maxTransactionEuros', { maxTransactionEuros: 20 }, amount, 2_001n, 2_000n],
    ['dailyLimitEuros', { dailyLimitEuros: 50 }, one => one.dayEuros + one.amountEuros, 5_001n, 5_000n],
    ['monthlyLimitEuros', { monthlyLimitEuros: 50 }, one => one.monthEuros + one.amountEuros, 5_001n, 5_000n],
    ['autoApproveLimitEuros', { autoApproveLimitEuros: 10 }, amount, 1_001n, 1_000n],
    [
      'merchantAllowlist',
      { merchantAllowlist: ['*.example.com'] },
      one => one.merchant,
      'shop.example.comx',
      'shop.example.com',
    ],
    ['merchantBlocklist', { merchantBlocklist: ['Casino'] }, one => one.merchant, 'Casino', 'Casinox'],
    ['allowedMccs', { allowedMccs: ['5942'] }, one => one.mcc, '5941', '5942'],
    ['blockedMccs', { blockedMccs: ['5942', '5943'] }, one => one.mcc, '5942', '5941'],
    ['allowedCountries', { allowedCountries: ['AD', 'AE'] }, one => one.country, 'AF', 'AD'],
    ['lockToFirstMerchant', { lockToFirstMerchant: true }, one => one.firstMerchant, 'Any shopx', 'Any shop'],
    ['cooldownMinutes', { cooldownMinutes: 5 }, one => time(one.lastSpendAt), '12:26', '12:25'],
    ['maxUsageCount', { maxUsageCount: 3 }, one => one.uses, 3, 2],
    ['activeHoursStart', { activeHoursStart: 9, activeHoursEnd: 17 }, one => time(one.at), '08:59', '09:00'],
    ['activeHoursStart', { activeHoursStart: 22, activeHoursEnd: 6 }, one => time(one.at), '21:59', '22:00'],
    [
      'expiresAfterMinutes',
      { expiresAfterMinutes: 5, expirationAction: 'freeze' },
      one => time(one.policyEndsAt),
      '12:30',
      '12:31',
    ],
    [
      'requireIntent',
      { requireIntent: true },
      one => [one.kind, one.intentId !== null],
      ['card', false],
      ['card', true],
    ],
    [
      'requireAttestation',
      { requireAttestation: true },
      one => time(one.approval?.attestedAt),
      '12:24',
      '12:25',
    ],
    ['amountTolerancePercent', { amountTolerancePercent: 10 }, one => one.chargedEuros, 111n, 110n],
    ['amountTolerancePercent', { amountTolerancePercent: 0 }, one => one.chargedEuros, 101n, 100n],
  ])('%s', (rule, rules, member, stops, passes) => {
    const found = probed({ ...easy, ...rules }).rules.find(one => one.rule === rule)
    expect([
      found?.stops && member(found.stops.situation),
      found?.passes && member(found.passes.situation),
    ]).toEqual([stops, passes])
    expect(found?.stops?.verdict).not.toBe('allowed')
    expect(found?.passes?.verdict).toBe('allowed')
  })

  test('an end that is only notified stops nothing', () => {
    const rules = { ...easy, expiresAfterMinutes: 5, expirationAction: 'notify' as const }
    const found = probed(rules).rules.find(({ rule }) => rule === 'expiresAfterMinutes')
    expect([found?.stops, found?.passes?.verdict]).toEqual([null, 'allowed'])
  })

  test('one of nothing lets nothing through, and hours without an end stop nothing', () => {
    const sideOf = (rules: Given, name: string) => probed(rules).rules.find(({ rule }) => rule === name)
    for (const name of ['maxTransactionEuros', 'dailyLimitEuros', 'monthlyLimitEuros'] as const)
      expect(sideOf({ [name]: 0 }, name)).toMatchObject({ stops: { outcome: 'fail' }, passes: null })
    expect(sideOf({}, 'autoApproveLimitEuros')).toMatchObject({ stops: { outcome: 'review' }, passes: null })
    expect(sideOf({ activeHoursStart: 7, activeHoursEnd: 7 }, 'activeHoursStart')?.stops).toBeNull()
    expect(
      sideOf({ allowedMccs: ['5942'], blockedMccs: ['5942'] }, 'blockedMccs')?.passes?.situation.mcc,
    ).not.toBe('5942')
  })

  test('and every rule that comes of a policy has its sides', () => {
    const ofPolicies = ruleTable.filter(({ judge }) => judge(null) === undefined)
    expect(ofPolicies.map(({ name }) => name).filter(name => !sides[name])).toEqual([])
  })

  test('and nothing is told that decide would not say, whatever the policy', () => {
    const few = <T>(...all: T[]) => fc.subarray(all)
    const limit = fc.option(fc.integer({ min: 0, max: 500 }), { nil: null })
    const hour = fc.option(fc.integer({ min: 0, max: 23 }), { nil: null })
    const count = fc.option(fc.integer({ min: 1, max: 50 }), { nil: null })
    const any = fc.record({
      maxTransactionEuros: limit,
      dailyLimitEuros: limit,
      monthlyLimitEuros: limit,
      autoApproveLimitEuros: limit,
      merchantAllowlist: few('A', '*.b.example'),
      merchantBlocklist: few('A', 'shop.b.example', 'C'),
      allowedMccs: few('0000', '5942', '9999'),
      blockedMccs: few('0000', '9999'),
      mccCategories: few('travel'),
      allowedCountries: few('DE', 'AD'),
      lockToFirstMerchant: fc.boolean(),
      requireIntent: fc.boolean(),
      cooldownMinutes: count,
      maxUsageCount: count,
      expiresAfterMinutes: count,
      attestationWindowMinutes: count,
      requireAttestation: fc.boolean(),
      activeHoursStart: hour,
      activeHoursEnd: hour,
      amountTolerancePercent: limit,
    })
    const isAgainst = (
      compiled: ReturnType<typeof compile>,
      rule: string,
      { situation }: Probed,
    ): boolean => {
      const { checks, holdEuros } = decide(compiled, situation, situation)
      if (situation.chargedEuros !== null) return situation.chargedEuros > holdEuros
      return checks.some(one => one.rule === rule && (one.outcome === 'fail' || one.outcome === 'review'))
    }
    fc.assert(
      fc.property(any, rules => {
        const compiled = compile(policy(rules))
        const told = probed(rules).rules.map(({ rule, stops, passes }) => ({
          rule,
          stops: stops && isAgainst(compiled, rule, stops),
          passes: passes && isAgainst(compiled, rule, passes),
        }))
        const isRight = ({ stops, passes }: (typeof told)[number]): boolean =>
          stops !== false && passes !== true && (stops ?? passes) !== null
        expect(told.filter(one => !isRight(one))).toEqual([])
      }),
      { numRuns: 400 },
    )
  })
})

describe('what contradicts itself', () => {
  test.each<[Given, RegExp]>([
    [{ activeHoursStart: 7, activeHoursEnd: 7 }, /all day/],
    [{ activeHoursStart: 0 }, /all day/],
    [
      { autoApproveLimitEuros: 20, maxTransactionEuros: 10 },
      /^Up to € 20.00 .* above € 10.00 everything is denied/,
    ],
    [{ autoApproveLimitEuros: 20, requireAttestation: true }, /requireAttestation asks one about everything/],
    [
      { merchantAllowlist: ['A', 'B'], merchantBlocklist: ['b'] },
      /^Allowed and blocked at once, so blocked: B\.$/,
    ],
    [{ merchantAllowlist: ['A'], merchantBlocklist: ['a'] }, /No merchant is left/],
    [
      { ...easy, merchantAllowlist: ['x', ...'abcdefghijkl'], merchantBlocklist: [...'abcdefghijkl'] },
      /: a, b, c, d, e, f, g, h, i, j and 2 more\.$/,
    ],
    [{ allowedMccs: ['5942', '5943'], blockedMccs: ['5942'] }, /so blocked: 5942\.$/],
    [{ allowedMccs: ['5942'], blockedMccs: ['5942'] }, /No category is left/],
    [{ dailyLimitEuros: 50, monthlyLimitEuros: 20 }, /^The daily limit of € 50.00 has no effect/],
    [
      { maxTransactionEuros: 50, dailyLimitEuros: 20 },
      /one payment has no effect: the daily limit is € 20.00/,
    ],
    [{ maxTransactionEuros: 50, monthlyLimitEuros: 20 }, /one payment has no effect: the monthly limit/],
    [{ dailyLimitEuros: 0 }, /^The daily limit is € 0.00: every payment is denied/],
    [{ attestationWindowMinutes: 5 }, /without requireAttestation/],
    [{ expirationAction: 'freeze' }, /without expiresAfterMinutes/],
  ])('%j', (rules, said) => {
    expect(probed(rules).warnings.map(({ message }) => message)).toEqual([expect.stringMatching(said)])
  })

  test('is not what merely is set: an empty list is no rule, equal limits are none too many', () => {
    const fine: Given[] = [
      {},
      { merchantAllowlist: [], merchantBlocklist: ['A'] },
      { maxTransactionEuros: 5, dailyLimitEuros: 5, monthlyLimitEuros: 5, autoApproveLimitEuros: 5 },
      { activeHoursStart: 22, activeHoursEnd: 6 },
    ]
    for (const rules of fine) expect(probed(rules).warnings).toEqual([])
    expect(probed({ merchantAllowlist: [] }).rules.map(({ rule }) => rule)).toEqual(['autoApproveLimitEuros'])
  })
})
