import { compilePolicy, decideSpendByRules } from '../../src/control/rules/decide.ts'
import type { SpendRequest } from '../../src/control/rules/decision.ts'
import { PolicyCreate } from '../../src/control/rules/rules.ts'
import { decodeJson } from '../../src/values/json-names.ts'
import { cents } from '../../src/values/money.ts'
import type { Section } from './report.ts'

const COUNT = 20_000
const ROUNDS = 50

const at = new Date('2026-11-20T12:00:00.000Z')

/** A policy with every rule, all of which this spending passes. */
const policy = compilePolicy(
  decodeJson(PolicyCreate, {
    name: 'All rules',
    maxTransactionEuros: 250,
    dailyLimitEuros: 5_000,
    monthlyLimitEuros: 50_000,
    autoApproveLimitEuros: 100,
    merchantAllowlist: ['Bookshop', '*.example.com', ...Array.from({ length: 100 }, (_, n) => `Shop ${n}`)],
    merchantBlocklist: Array.from({ length: 100 }, (_, n) => `Casino ${n}`),
    mccCategories: ['software', 'publishing'],
    allowedMccs: ['5942'],
    blockedMccs: ['7995'],
    allowedCountries: ['DE', 'FR', 'NL'],
    lockToFirstMerchant: true,
    cooldownMinutes: 5,
    requireIntent: true,
    expiresAfterMinutes: 43_200,
    expirationAction: 'freeze',
    activeHoursStart: 6,
    activeHoursEnd: 22,
    maxUsageCount: 10_000,
    amountTolerancePercent: 5,
  }),
)

const budget = {
  level: 'run',
  id: 'run_1',
  name: 'Reading',
  limitCents: cents(10_000_000n),
  usedCents: cents(1_000n),
} as const
const request: Omit<SpendRequest, 'amountCents'> = {
  kind: 'card',
  at,
  merchant: 'Bookshop',
  mcc: '5942',
  country: 'DE',
  agentStatus: 'active',
  policyEndsAt: new Date('2027-01-01'),
  intentId: 'intent_1',
  possibleDuplicateOf: null,
  budgets: [budget],
  risk: { score: 10, parts: [], outcome: 'pass' },
  approval: null,
  walletFrozen: false,
  availableCents: cents(10_000_000n),
}
const counters = {
  dayCents: cents(12_345n),
  monthCents: cents(123_456n),
  uses: 17,
  firstMerchant: 'Bookshop',
  lastSpendAt: new Date('2026-11-20T11:00:00.000Z'),
}

/** Measures one decision in nanoseconds, including the sentences of all checks; the best round counts. */
export async function measureDeciding(): Promise<Section> {
  let best = Number.POSITIVE_INFINITY
  let rules = 0
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now()
    for (let n = 0; n < COUNT; n++) {
      const ruling = decideSpendByRules(
        policy,
        { ...request, amountCents: cents(1_000 + (n % 500)) },
        counters,
      )
      if (!ruling.allowed || ruling.requiresApproval) throw new Error(ruling.reason)
      rules = ruling.checks.length
    }
    best = Math.min(best, ((performance.now() - began) * 1e6) / COUNT)
  }
  const nanoseconds = Math.round(best)
  return { figures: { nanoseconds, rules }, text: `decide with ${rules} rules: ${nanoseconds} ns` }
}
