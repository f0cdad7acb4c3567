import './decide/decide-at-random.ts'
import { describe, expect, test } from '@jest/globals'
import { compile, decide, ruleTable } from '../../src/control/policies/decide.ts'
import { type Counters, type SpendRequest, untouched } from '../../src/control/policies/decision.ts'
import { ask, at, budgetOf, found, type Given, NOON, plain, verdictOf } from '../support/decide.ts'

const amount = (cents: bigint) => ({ amountEuros: cents })
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
    [{ expiresAfterMinutes: 1 }, { policyEndsAt: NOON }, {}, 'pass'],
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
    [
      'The limit of 3 payments is reached: 2 completed, 1 reserved for open intents, 0 left.',
      { maxUsageCount: 3 },
      {},
      { uses: 3, openUses: 1 },
    ],
    [
      'The limit of 3 payments is reached: 3 used, 0 left.',
      { maxUsageCount: 3 },
      {},
      { uses: 3, openUses: undefined },
    ],
    [
      'mcc is not given, and some merchant categories are blocked.',
      { blockedMccs: ['5942'] },
      { mcc: null },
      {},
    ],
    [
      'mcc is not given, and only some merchant categories are admitted.',
      { allowedMccs: ['5942'] },
      { mcc: null },
      {},
    ],
    [
      'country is not given, and merchants of some countries only are allowed.',
      { allowedCountries: ['FR'] },
      { country: null },
      {},
    ],
    [
      '€ 5,000.01 is above the limit of € 5,000.00 for one payment.',
      { maxTransactionEuros: 5_000 },
      amount(500_001n),
      {},
    ],
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
