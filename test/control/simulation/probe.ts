import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type ProbedSituation, probeRules } from '../../../src/control/policies/probe.ts'
import { compilePolicy, decideSpendByRules, policyRuleTable } from '../../../src/control/rules/decide.ts'
import { PolicyCreate } from '../../../src/control/rules/rules.ts'
import { ruleProbeCases } from '../../../src/control/rules/situations.ts'
import { decodeJson, type JsonOf } from '../../../src/values/json-names.ts'
import { addCents } from '../../../src/values/money.ts'

type Situation = ProbedSituation['situation']
type RulesInput = Omit<JsonOf<typeof PolicyCreate>, 'name'>
const policy = (rules: RulesInput) => decodeJson(PolicyCreate, { name: 'P', ...rules })

const NOW = new Date('2026-11-20T12:30:00.000Z')
const probe = (rules: RulesInput) => probeRules(policy(rules), NOW)
const noPersonAsked = { autoApproveLimitEuros: 1_000 }

const time = (at: Date | null | undefined) => at?.toISOString().slice(11, 16)

type Case = [
  rule: string,
  rules: RulesInput,
  memberOf: (situation: Situation) => unknown,
  stops: unknown,
  passes: unknown,
]

const amountOf = ({ amountCents }: Situation) => amountCents

describe('a probe shows from both sides', () => {
  test.each<Case>([
    ['maxTransactionEuros', { maxTransactionEuros: 20 }, amountOf, 2_001n, 2_000n],
    [
      'dailyLimitEuros',
      { dailyLimitEuros: 50 },
      ({ dayCents, amountCents }) => addCents(dayCents, amountCents),
      5_001n,
      5_000n,
    ],
    [
      'monthlyLimitEuros',
      { monthlyLimitEuros: 50 },
      ({ monthCents, amountCents }) => addCents(monthCents, amountCents),
      5_001n,
      5_000n,
    ],
    ['autoApproveLimitEuros', { autoApproveLimitEuros: 10 }, amountOf, 1_001n, 1_000n],
    [
      'merchantAllowlist',
      { merchantAllowlist: ['*.example.com'] },
      ({ merchant }) => merchant,
      'shop.example.comx',
      'shop.example.com',
    ],
    ['merchantBlocklist', { merchantBlocklist: ['Casino'] }, ({ merchant }) => merchant, 'Casino', 'Casinox'],
    ['allowedMccs', { allowedMccs: ['5942'] }, ({ mcc }) => mcc, '5941', '5942'],
    ['blockedMccs', { blockedMccs: ['5942', '5943'] }, ({ mcc }) => mcc, '5942', '5941'],
    ['allowedCountries', { allowedCountries: ['AD', 'AE'] }, ({ country }) => country, 'AF', 'AD'],
    [
      'lockToFirstMerchant',
      { lockToFirstMerchant: true },
      ({ firstMerchant }) => firstMerchant,
      'Any shopx',
      'Any shop',
    ],
    ['cooldownMinutes', { cooldownMinutes: 5 }, ({ lastSpendAt }) => time(lastSpendAt), '12:26', '12:25'],
    ['maxUsageCount', { maxUsageCount: 3 }, ({ uses }) => uses, 3, 2],
    ['activeHoursStart', { activeHoursStart: 9, activeHoursEnd: 17 }, ({ at }) => time(at), '08:59', '09:00'],
    ['activeHoursStart', { activeHoursStart: 22, activeHoursEnd: 6 }, ({ at }) => time(at), '21:59', '22:00'],
    [
      'expiresAfterMinutes',
      { expiresAfterMinutes: 5, expirationAction: 'freeze' },
      ({ policyEndsAt }) => time(policyEndsAt),
      '12:30',
      '12:31',
    ],
    [
      'requireIntent',
      { requireIntent: true },
      ({ kind, intentId }) => [kind, intentId !== null],
      ['card', false],
      ['card', true],
    ],
    [
      'requireAttestation',
      { requireAttestation: true },
      ({ approval }) => time(approval?.attestedAt),
      '12:24',
      '12:25',
    ],
    [
      'amountTolerancePercent',
      { amountTolerancePercent: 10 },
      ({ chargedCents }) => chargedCents,
      111n,
      110n,
    ],
    ['amountTolerancePercent', { amountTolerancePercent: 0 }, ({ chargedCents }) => chargedCents, 101n, 100n],
  ])('%s', (rule, rules, memberOf, stops, passes) => {
    const probed = probe({ ...noPersonAsked, ...rules }).rules.find(({ rule: name }) => name === rule)
    expect([
      probed?.stops && memberOf(probed.stops.situation),
      probed?.passes && memberOf(probed.passes.situation),
    ]).toEqual([stops, passes])
    expect(probed?.stops?.verdict).not.toBe('allowed')
    expect(probed?.passes?.verdict).toBe('allowed')
  })

  test('an end that only notifies as stopping nothing', () => {
    const rules = { ...noPersonAsked, expiresAfterMinutes: 5, expirationAction: 'notify' as const }
    const probed = probe(rules).rules.find(({ rule }) => rule === 'expiresAfterMinutes')
    expect([probed?.stops, probed?.passes?.verdict]).toEqual([null, 'allowed'])
  })

  test('a limit of 0 as passing nothing, and hours of a whole day as stopping nothing', () => {
    const probeOf = (rules: RulesInput, name: string) => probe(rules).rules.find(({ rule }) => rule === name)
    for (const name of ['maxTransactionEuros', 'dailyLimitEuros', 'monthlyLimitEuros'] as const)
      expect(probeOf({ [name]: 0 }, name)).toMatchObject({ stops: { outcome: 'fail' }, passes: null })
    expect(probeOf({}, 'autoApproveLimitEuros')).toMatchObject({ stops: { outcome: 'review' }, passes: null })
    expect(probeOf({ activeHoursStart: 7, activeHoursEnd: 7 }, 'activeHoursStart')?.stops).toBeNull()
    expect(
      probeOf({ allowedMccs: ['5942'], blockedMccs: ['5942'] }, 'blockedMccs')?.passes?.situation.mcc,
    ).not.toBe('5942')
  })

  test('every rule that a policy can set', () => {
    const policyRules = policyRuleTable.filter(rule => rule.compile(null) === undefined)
    expect(policyRules.map(({ name }) => name).filter(name => !ruleProbeCases[name])).toEqual([])
  })

  test('a probe shows only what `decide` says, under any policy', () => {
    const someOf = <T>(...values: T[]) => fc.subarray(values)
    const limit = fc.option(fc.integer({ min: 0, max: 500 }), { nil: null })
    const hour = fc.option(fc.integer({ min: 0, max: 23 }), { nil: null })
    const count = fc.option(fc.integer({ min: 1, max: 50 }), { nil: null })
    const anyRules = fc.record({
      maxTransactionEuros: limit,
      dailyLimitEuros: limit,
      monthlyLimitEuros: limit,
      autoApproveLimitEuros: limit,
      merchantAllowlist: someOf('A', '*.b.example'),
      merchantBlocklist: someOf('A', 'shop.b.example', 'C'),
      allowedMccs: someOf('0000', '5942', '9999'),
      blockedMccs: someOf('0000', '9999'),
      mccCategories: someOf('travel'),
      allowedCountries: someOf('DE', 'AD'),
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
    const isStopped = (
      compiled: ReturnType<typeof compilePolicy>,
      rule: string,
      { situation }: ProbedSituation,
    ): boolean => {
      const { checks, holdCents } = decideSpendByRules(compiled, situation, situation)
      if (situation.chargedCents !== null) return situation.chargedCents > holdCents
      return checks.some(check => check.rule === rule && /fail|review/.test(check.outcome))
    }
    fc.assert(
      fc.property(anyRules, rules => {
        const compiled = compilePolicy(policy(rules))
        const probedRules = probe(rules).rules.map(({ rule, stops, passes }) => ({
          rule,
          stops: stops && isStopped(compiled, rule, stops),
          passes: passes && isStopped(compiled, rule, passes),
        }))
        const isRight = ({ stops, passes }: (typeof probedRules)[number]): boolean =>
          stops !== false && passes !== true && (stops ?? passes) !== null
        expect(probedRules.filter(rule => !isRight(rule))).toEqual([])
      }),
      { numRuns: 400 },
    )
  })
})

describe('a warning', () => {
  test.each<[RulesInput, RegExp]>([
    [{ activeHoursStart: 7, activeHoursEnd: 7 }, /all day/],
    [{ activeHoursStart: 0 }, /all day/],
    [
      { autoApproveLimitEuros: 20, maxTransactionEuros: 10 },
      /^The auto-approve limit of € 20.00 exceeds the limit of € 10.00 /,
    ],
    [
      { autoApproveLimitEuros: 20, requireAttestation: true },
      /requireAttestation requires a person for every intent/,
    ],
    [
      { merchantAllowlist: ['A', 'B'], merchantBlocklist: ['b'] },
      /^Both allowed and blocked, so blocked: B\.$/,
    ],
    [{ merchantAllowlist: ['A'], merchantBlocklist: ['a'] }, /No merchant is left/],
    [
      {
        ...noPersonAsked,
        merchantAllowlist: ['x', ...'abcdefghijkl'],
        merchantBlocklist: [...'abcdefghijkl'],
      },
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
  ])('is given for %j', (rules, message) => {
    expect(probe(rules).warnings.map(warning => warning.message)).toEqual([expect.stringMatching(message)])
  })

  test('no warning for an empty list, for equal limits, or for a single list', () => {
    const withoutContradiction: RulesInput[] = [
      {},
      { merchantAllowlist: [], merchantBlocklist: ['A'] },
      { maxTransactionEuros: 5, dailyLimitEuros: 5, monthlyLimitEuros: 5, autoApproveLimitEuros: 5 },
      { activeHoursStart: 22, activeHoursEnd: 6 },
    ]
    for (const rules of withoutContradiction) expect(probe(rules).warnings).toEqual([])
    expect(probe({ merchantAllowlist: [] }).rules.map(({ rule }) => rule)).toEqual(['autoApproveLimitEuros'])
  })
})
