import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { encode, type z } from 'zod'
import { holdFor, withTolerance } from '../../src/control/policies/amount-rules.ts'
import { compile, decide, ruleTable } from '../../src/control/policies/decide.ts'
import { type Counters, type SpendRequest, untouched } from '../../src/control/policies/decision.ts'
import { PolicyCreate } from '../../src/control/policies/rules.ts'
import { keptCounters, keptRequest, replay } from '../../src/control/policies/stored-decision.ts'

type Given = Omit<z.input<typeof PolicyCreate>, 'name'>

const NOON = new Date('2026-11-20T12:00:00.000Z')
const at = (time: string) => ({ at: new Date(`2026-11-20T${time}Z`) })

const plain: SpendRequest = {
  kind: 'intent',
  at: NOON,
  amountEuros: 2_000n,
  merchant: 'Bookshop',
  mcc: '5942',
  country: 'DE',
  agentStatus: 'active',
  policyEndsAt: null,
  intentId: null,
  possibleDuplicateOf: null,
  budgets: [],
  risk: null,
  approval: null,
  walletFrozen: false,
  availableEuros: 1_000_000n,
}

/** Nobody is asked about anything, save by the rule in question. */
const generous: Given = { autoApproveLimitEuros: 1_000_000 }
const policy = (rules: Given) => PolicyCreate.parse({ name: 'P', ...generous, ...rules })

const ask = (rules: Given, request: Partial<SpendRequest> = {}, counters: Partial<Counters> = {}) =>
  decide(compile(policy(rules)), { ...plain, ...request }, { ...untouched, ...counters })

const verdictOf = ({ allowed, requiresApproval }: ReturnType<typeof ask>): string =>
  allowed ? (requiresApproval ? 'review' : 'pass') : 'fail'

const amount = (cents: bigint) => ({ amountEuros: cents })
const budgetOf = (level: 'owner' | 'run' | 'card', limit: bigint, used: bigint) => ({
  ...{ level, id: `${level}_1`, name: `“${level}”` },
  ...{ limitEuros: limit, usedEuros: used },
})
const found = (outcome: 'pass' | 'review' | 'deny' | 'freeze') => ({
  risk: { score: 60, parts: [{ signal: 'velocity', points: 60, message: 'many at once.' }], outcome },
})
const attested = (time: string) => ({ approval: { attestedAt: at(time).at } })

type Line = [rules: Given, request: Partial<SpendRequest>, counters: Partial<Counters>, verdict: string]

/** At each limit, and one step beyond it. */
const lines: Readonly<Record<string, Line[]>> = {
  agentStatus: [
    [{}, { agentStatus: 'active' }, {}, 'pass'],
    [{}, { agentStatus: 'frozen' }, {}, 'fail'],
  ],
  expiresAfterMinutes: [
    [{ expiresAfterMinutes: 1 }, { policyEndsAt: new Date(NOON.getTime() + 1) }, {}, 'pass'],
    [{ expiresAfterMinutes: 1 }, { policyEndsAt: NOON }, {}, 'review'],
    [{ expiresAfterMinutes: 1, expirationAction: 'freeze' }, { policyEndsAt: NOON }, {}, 'fail'],
    [{ expiresAfterMinutes: 1, expirationAction: 'close' }, { policyEndsAt: NOON }, {}, 'fail'],
  ],
  requireIntent: [
    [{ requireIntent: true }, { kind: 'card' }, {}, 'fail'],
    [{ requireIntent: true }, { kind: 'card', intentId: 'intent_1' }, {}, 'pass'],
    [{ requireIntent: true }, { kind: 'intent' }, {}, 'pass'],
  ],
  merchantBlocklist: [
    [{ merchantBlocklist: ['BOOKSHOP'] }, {}, {}, 'fail'],
    [{ merchantBlocklist: ['Bookshops'] }, {}, {}, 'pass'],
    [{ merchantBlocklist: ['Bookshop'], merchantAllowlist: ['Bookshop'] }, {}, {}, 'fail'],
    [{ merchantBlocklist: ['Bооkshop'] }, {}, {}, 'fail'],
    [{ merchantBlocklist: ['*.example.com'] }, { merchant: 'shop.example.com' }, {}, 'fail'],
  ],
  merchantAllowlist: [
    [{ merchantAllowlist: ['bookshop'] }, {}, {}, 'pass'],
    [{ merchantAllowlist: ['Library'] }, {}, {}, 'fail'],
    [{ merchantAllowlist: ['Bооkshop'] }, {}, {}, 'fail'],
    [{ merchantAllowlist: [] }, {}, {}, 'pass'],
  ],
  blockedMccs: [
    [{ blockedMccs: ['5942'] }, {}, {}, 'fail'],
    [{ blockedMccs: ['5943'] }, {}, {}, 'pass'],
    [{ blockedMccs: ['5942'], allowedMccs: ['5942'] }, {}, {}, 'fail'],
    [{ blockedMccs: ['5942'] }, { mcc: null }, {}, 'review'],
  ],
  mccCategories: [
    [{ mccCategories: ['travel'] }, { mcc: '4511' }, {}, 'pass'],
    [{ mccCategories: ['travel'] }, {}, {}, 'fail'],
    [{ mccCategories: ['travel'], allowedMccs: ['5942'] }, {}, {}, 'pass'],
    [{ allowedMccs: ['5943'] }, {}, {}, 'fail'],
    [{ allowedMccs: ['5942'] }, { mcc: null }, {}, 'review'],
  ],
  allowedCountries: [
    [{ allowedCountries: ['DE', 'FR'] }, {}, {}, 'pass'],
    [{ allowedCountries: ['FR'] }, {}, {}, 'fail'],
    [{ allowedCountries: ['FR'] }, { country: null }, {}, 'review'],
  ],
  lockToFirstMerchant: [
    [{ lockToFirstMerchant: true }, {}, {}, 'pass'],
    [{ lockToFirstMerchant: true }, {}, { firstMerchant: 'BOOKSHOP' }, 'pass'],
    [{ lockToFirstMerchant: true }, {}, { firstMerchant: 'Library' }, 'fail'],
    [{ lockToFirstMerchant: false }, {}, { firstMerchant: 'Library' }, 'pass'],
  ],
  boundMerchant: [
    [{}, { budgets: [{ ...budgetOf('run', 5_000n, 0n), merchant: 'BOOKSHOP' }] }, {}, 'pass'],
    [{}, { budgets: [{ ...budgetOf('run', 5_000n, 0n), merchant: 'Library' }] }, {}, 'fail'],
    [{}, { budgets: [{ ...budgetOf('run', 5_000n, 0n), merchant: null }] }, {}, 'pass'],
  ],
  activeHoursStart: [
    [{ activeHoursStart: 9, activeHoursEnd: 17 }, at('08:59:59.999'), {}, 'fail'],
    [{ activeHoursStart: 9, activeHoursEnd: 17 }, at('09:00:00.000'), {}, 'pass'],
    [{ activeHoursStart: 9, activeHoursEnd: 17 }, at('16:59:59.999'), {}, 'pass'],
    [{ activeHoursStart: 9, activeHoursEnd: 17 }, at('17:00:00.000'), {}, 'fail'],
    [{ activeHoursStart: 22, activeHoursEnd: 6 }, at('23:00:00.000'), {}, 'pass'],
    [{ activeHoursStart: 22, activeHoursEnd: 6 }, at('05:59:59.999'), {}, 'pass'],
    [{ activeHoursStart: 22, activeHoursEnd: 6 }, at('06:00:00.000'), {}, 'fail'],
    [{ activeHoursStart: 7, activeHoursEnd: 7 }, at('03:00:00.000'), {}, 'pass'],
    [{ activeHoursStart: 13 }, {}, {}, 'fail'],
    [{ activeHoursEnd: 13 }, {}, {}, 'pass'],
  ],
  cooldownMinutes: [
    [{ cooldownMinutes: 5 }, {}, {}, 'pass'],
    [{ cooldownMinutes: 5 }, {}, { lastSpendAt: at('11:55:00.000').at }, 'pass'],
    [{ cooldownMinutes: 5 }, {}, { lastSpendAt: at('11:55:00.001').at }, 'fail'],
    [{ cooldownMinutes: 0 }, {}, { lastSpendAt: NOON }, 'pass'],
  ],
  maxUsageCount: [
    [{ maxUsageCount: 3 }, {}, { uses: 2 }, 'pass'],
    [{ maxUsageCount: 3 }, {}, { uses: 3 }, 'fail'],
  ],
  maxTransactionEuros: [
    [{ maxTransactionEuros: 20 }, {}, {}, 'pass'],
    [{ maxTransactionEuros: 20 }, amount(2_001n), {}, 'fail'],
    [{ maxTransactionEuros: 0 }, amount(1n), {}, 'fail'],
  ],
  dailyLimitEuros: [
    [{ dailyLimitEuros: 70 }, {}, { dayEuros: 5_000n }, 'pass'],
    [{ dailyLimitEuros: 70 }, {}, { dayEuros: 5_001n }, 'fail'],
    [{ dailyLimitEuros: 70 }, amount(1n), { dayEuros: 9_000n }, 'fail'],
    [{ dailyLimitEuros: 0 }, amount(1n), {}, 'fail'],
  ],
  monthlyLimitEuros: [
    [{ monthlyLimitEuros: 70 }, {}, { monthEuros: 5_000n }, 'pass'],
    [{ monthlyLimitEuros: 70 }, {}, { monthEuros: 5_001n }, 'fail'],
  ],
  budget: [
    [{}, { budgets: [budgetOf('run', 5_000n, 3_000n), budgetOf('card', 9_000n, 0n)] }, {}, 'pass'],
    [{}, { budgets: [budgetOf('run', 5_000n, 3_001n), budgetOf('card', 9_000n, 0n)] }, {}, 'fail'],
    [{}, { budgets: [budgetOf('run', 5_000n, 0n), budgetOf('card', 0n, 0n)] }, {}, 'fail'],
  ],
  risk: [
    [{}, found('pass'), {}, 'pass'],
    [{}, found('review'), {}, 'review'],
    [{}, found('deny'), {}, 'fail'],
    [{}, found('freeze'), {}, 'fail'],
  ],
  possibleDuplicate: [[{}, { possibleDuplicateOf: 'intent_1' }, {}, 'review']],
  requireAttestation: [
    [{ requireAttestation: true }, {}, {}, 'review'],
    [{ requireAttestation: true }, { approval: { attestedAt: null } }, {}, 'fail'],
    [{ requireAttestation: true }, attested('11:55:00.000'), {}, 'pass'],
    [{ requireAttestation: true }, attested('11:54:59.999'), {}, 'fail'],
    [{ requireAttestation: true, attestationWindowMinutes: 6 }, attested('11:54:00.000'), {}, 'pass'],
    [{ requireAttestation: true }, { kind: 'card', intentId: 'intent_1' }, {}, 'pass'],
  ],
  autoApproveLimitEuros: [
    [{ autoApproveLimitEuros: 20 }, {}, {}, 'pass'],
    [{ autoApproveLimitEuros: 20 }, amount(2_001n), {}, 'review'],
    [{ autoApproveLimitEuros: null }, amount(1n), {}, 'review'],
  ],
  amountTolerancePercent: [[{ amountTolerancePercent: 10 }, {}, {}, 'pass']],
  walletStatus: [
    [{}, { walletFrozen: true }, {}, 'fail'],
    [{}, { walletFrozen: false }, {}, 'pass'],
  ],
  insufficient_funds: [
    [{}, { availableEuros: 2_000n }, {}, 'pass'],
    [{}, { availableEuros: 1_999n }, {}, 'fail'],
    [{ amountTolerancePercent: 10 }, { availableEuros: 2_199n }, {}, 'fail'],
    [{ autoApproveLimitEuros: 1 }, { availableEuros: 0n, approval: { attestedAt: null } }, {}, 'fail'],
    [{}, { availableEuros: null }, {}, 'pass'],
  ],
}

test('every rule of the table has lines', () => {
  expect(Object.keys(lines)).toEqual(ruleTable.map(({ name }) => name))
})

describe.each(Object.entries(lines))('%s', (rule, cases) => {
  test.each(cases.map((line, index) => [index, ...line] as const))(
    'line %#',
    (_, rules, request, counters, verdict) => {
      const ruling = ask(rules, request, counters)
      expect(verdictOf(ruling)).toBe(verdict)
      if (verdict === 'pass') return
      const check = ruling.checks.find(({ outcome }) => outcome === verdict)
      const names = rule === 'mccCategories' ? [rule, 'allowedMccs'] : [rule]
      expect(names).toContain(check?.rule)
      expect(ruling.reason).toBe(check?.message)
    },
  )
})

describe('what is said', () => {
  test.each<[string, Given, Partial<SpendRequest>, Partial<Counters>]>([
    [
      'The daily limit of € 70.00 is reached: € 70.00 used, € 0.00 left.',
      { dailyLimitEuros: 70 },
      {},
      { dayEuros: 7_000n },
    ],
    [
      'The daily limit of € 70.00 is too low for € 20.00: € 60.00 used, € 10.00 left.',
      { dailyLimitEuros: 70 },
      {},
      { dayEuros: 6_000n },
    ],
    ['€ 20.00 is above the limit of € 19.99 for one payment.', { maxTransactionEuros: 19.99 }, {}, {}],
    ['The limit of 3 payments is reached: 3 used, 0 left.', { maxUsageCount: 3 }, {}, { uses: 3 }],
    [
      '5 minutes must lie between two spends: 3 have passed, 2 are left.',
      { cooldownMinutes: 5 },
      {},
      { lastSpendAt: at('11:57:00.000').at },
    ],
    [
      'The budget of the card “card” of € 20.00 is too low for € 20.00: € 1.00 used, € 19.00 left.',
      {},
      { budgets: [budgetOf('run', 5_000n, 3_000n), budgetOf('card', 2_000n, 100n)] },
      {},
    ],
    [
      'The budget of the run “run” of € 50.00 is too low for € 20.00: € 45.00 used, € 5.00 left.',
      { dailyLimitEuros: 70, monthlyLimitEuros: 100 },
      { budgets: [budgetOf('run', 5_000n, 4_500n)] },
      { dayEuros: 6_000n, monthEuros: 9_400n },
    ],
    [
      'The monthly limit of € 100.00 is too low for € 20.00: € 96.00 used, € 4.00 left.',
      { dailyLimitEuros: 70, monthlyLimitEuros: 100 },
      { budgets: [budgetOf('run', 5_000n, 4_500n)] },
      { dayEuros: 6_000n, monthEuros: 9_600n },
    ],
    [
      'The owner’s budget for the month of € 20.00 is too low for € 20.00: € 0.01 used, € 19.99 left.',
      {},
      { budgets: [{ ...budgetOf('owner', 2_000n, 1n), period: 'month' }, budgetOf('run', 5_000n, 3_000n)] },
      {},
    ],
    [
      'The agent may spend from 13:00 to 15:00 UTC, and it is 12:00 UTC.',
      { activeHoursStart: 13, activeHoursEnd: 15 },
      {},
      {},
    ],
  ])('%s', (said, rules, request, counters) => {
    expect(ask(rules, request, counters).reason).toBe(said)
  })

  test('the agent without a policy is told of it, and keeps what its person approves', () => {
    const ruling = decide(compile(null), plain, untouched)
    expect(ruling).toMatchObject({ allowed: true, requiresApproval: true, holdEuros: 2_000n })
    expect(ruling.reason).toBe('The agent has no policy: a person approves every intent.')
  })

  test('who waits for a person needs no money yet', () => {
    expect(verdictOf(ask({ autoApproveLimitEuros: 1 }, { availableEuros: 0n }))).toBe('review')
  })

  test('a denial weighs more than a question, and is the reason', () => {
    const { reason, requiresApproval } = ask({ autoApproveLimitEuros: 1, dailyLimitEuros: 1 })
    expect(reason).toMatch(/daily limit/)
    expect(requiresApproval).toBe(false)
  })
})

describe('what is held', () => {
  test.each([
    [1_000n, null, 1_000n],
    [1_000n, 0, 1_000n],
    [1_000n, 5, 1_050n],
    [999n, 5, 1_049n],
    [1n, 0.01, 2n],
    [333n, 12.5, 375n],
  ])('for %d cents and a tolerance of %s percent is %d', (cents, percent, held) => {
    expect(withTolerance(cents, percent)).toBe(held)
  })

  test.each<[string, Given, Partial<SpendRequest>, Partial<Counters>, bigint]>([
    ['one payment', { maxTransactionEuros: 20.5 }, {}, {}, 2_050n],
    ['the day', { dailyLimitEuros: 100 }, {}, { dayEuros: 7_900n }, 2_100n],
    ['the month', { monthlyLimitEuros: 100 }, {}, { monthEuros: 8_000n }, 2_000n],
    ['a budget', {}, { budgets: [budgetOf('run', 5_000n, 2_990n)] }, {}, 2_010n],
  ])(
    'ends with its tolerance at the limit of %s, and is not refused for it',
    (_, rules, request, counters, held) => {
      const ruling = ask({ amountTolerancePercent: 50, ...rules }, request, counters)
      expect(verdictOf(ruling)).toBe('pass')
      expect(ruling.holdEuros).toBe(held)
    },
  )
})

const cents = fc.oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max: 10_000_000_000_000n }))
const limit = fc.option(cents, { nil: null })
const instant = fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true })
const merchant = fc.constantFrom('Bookshop', 'BÜCHER & Söhne', 'shop.example.com', 'Library')
const mcc = fc.constantFrom('5942', '4511', '7372')
const hour = fc.option(fc.integer({ min: 0, max: 23 }), { nil: null })
const count = fc.option(fc.integer({ min: 1, max: 50 }), { nil: null })

const anyPolicy = fc.record({
  name: fc.constant('P'),
  maxTransactionEuros: limit,
  dailyLimitEuros: limit,
  monthlyLimitEuros: limit,
  autoApproveLimitEuros: limit,
  merchantAllowlist: fc.array(merchant, { maxLength: 2 }),
  merchantBlocklist: fc.array(merchant, { maxLength: 1 }),
  mccCategories: fc.array(fc.constantFrom('software', 'travel'), { maxLength: 2 }),
  allowedCountries: fc.array(fc.constantFrom('DE', 'FR'), { maxLength: 2 }),
  lockToFirstMerchant: fc.boolean(),
  cooldownMinutes: count,
  allowedMccs: fc.array(mcc, { maxLength: 2 }),
  blockedMccs: fc.array(mcc, { maxLength: 1 }),
  requireIntent: fc.boolean(),
  requireAttestation: fc.boolean(),
  attestationWindowMinutes: count,
  expiresAfterMinutes: count,
  expirationAction: fc.constantFrom('freeze' as const, 'close' as const, 'notify' as const),
  activeHoursStart: hour,
  activeHoursEnd: hour,
  maxUsageCount: count,
  amountTolerancePercent: fc.option(fc.integer({ min: 0, max: 200 }), { nil: null }),
})

const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null })

const anyRequest: fc.Arbitrary<SpendRequest> = fc.record({
  kind: fc.constantFrom('intent' as const, 'card' as const, 'payment' as const),
  at: instant,
  amountEuros: cents.map(amount => amount + 1n),
  merchant,
  mcc: maybe(mcc),
  country: maybe(fc.constantFrom('DE', 'FR', 'US')),
  agentStatus: fc.constantFrom('active', 'active', 'active', 'frozen'),
  policyEndsAt: maybe(instant),
  intentId: maybe(fc.constant('intent_1')),
  possibleDuplicateOf: maybe(fc.constant('intent_2')),
  budgets: fc.array(
    fc.record({
      level: fc.constantFrom('run' as const, 'token' as const, 'card' as const),
      id: fc.constant('x_1'),
      name: fc.constant('X'),
      limitEuros: cents,
      usedEuros: cents,
      merchant: maybe(fc.constantFrom('Bookshop', 'Library')),
    }),
    { maxLength: 3 },
  ),
  risk: maybe(
    fc.constantFrom('pass' as const, 'review' as const, 'deny' as const).map(outcome => found(outcome).risk),
  ),
  approval: maybe(fc.record({ attestedAt: maybe(instant) })),
  walletFrozen: fc.boolean(),
  availableEuros: maybe(cents),
})

const anyCounters: fc.Arbitrary<Counters> = fc.record({
  dayEuros: cents,
  monthEuros: cents,
  uses: fc.integer({ min: 0, max: 60 }),
  lastSpendAt: maybe(instant),
  firstMerchant: maybe(merchant),
})

describe('thousands of random decisions', () => {
  test('replay to the same answer from what is stored of them', () => {
    fc.assert(
      fc.property(maybe(anyPolicy), anyRequest, anyCounters, (rules, request, counters) => {
        const version = rules && JSON.parse(JSON.stringify(encode(PolicyCreate, rules)))
        const row = JSON.parse(
          JSON.stringify({ request: keptRequest(request), counters: keptCounters(counters) }),
        )
        expect(isDeepStrictEqual(replay(row, version), decide(compile(rules), request, counters))).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })

  test('never hold more than any limit leaves, and never less than the amount', () => {
    fc.assert(
      fc.property(anyPolicy, anyRequest, anyCounters, (rules, request, counters) => {
        const { allowed, holdEuros } = decide(compile(rules), request, counters)
        if (!allowed) return
        const limits = [
          rules.maxTransactionEuros,
          rules.dailyLimitEuros !== null ? rules.dailyLimitEuros - counters.dayEuros : null,
          rules.monthlyLimitEuros !== null ? rules.monthlyLimitEuros - counters.monthEuros : null,
          ...request.budgets.map(({ limitEuros, usedEuros }) => limitEuros - usedEuros),
        ]
        expect(holdEuros >= request.amountEuros).toBe(true)
        for (const left of limits) if (left !== null) expect(holdEuros <= left).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  test('say no to more where they say no to less', () => {
    const severity = { pass: 0, review: 1, fail: 2 } as const
    fc.assert(
      fc.property(anyPolicy, anyRequest, anyCounters, cents, (rules, request, counters, more) => {
        const verdict = (amountEuros: bigint) =>
          verdictOf(
            decide(
              compile({ ...rules, amountTolerancePercent: null }),
              { ...request, amountEuros },
              counters,
            ),
          )
        const [less, greater] = [verdict(request.amountEuros), verdict(request.amountEuros + more)]
        // Who has too little waits for a person instead: without the money nothing is approved by itself.
        if (request.availableEuros !== null) return
        expect(severity[greater as 'pass'] >= severity[less as 'pass']).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  test('decide the same with figures that fit together', () => {
    fc.assert(
      fc.property(anyPolicy, anyRequest, anyCounters, (rules, request, counters) => {
        const { checks } = decide(compile(rules), request, counters)
        for (const { limit, used, remaining, rule } of checks)
          if (rule !== 'risk' && limit !== null && used !== null && remaining !== null)
            expect(remaining).toBeCloseTo(
              rule === 'cooldownMinutes' ? remaining : Math.max(limit - used, 0),
              2,
            )
        expect(new Set(checks.map(({ rule }) => rule)).size).toBe(checks.length)
      }),
      { numRuns: 500 },
    )
  })
})

test('a hold without terms is the amount', () => {
  expect(holdFor(null, { request: plain, counters: untouched })).toBe(2_000n)
})
