import fc from 'fast-check'
import { compilePolicy, decideSpendByRules } from '../../../src/control/rules/decide.ts'
import {
  type MandateUsage,
  type SpendCounters,
  type SpendRequest,
  zeroSpendCounters,
} from '../../../src/control/rules/decision.ts'
import { PolicyCreate } from '../../../src/control/rules/rules.ts'
import { decodeJson, type JsonOf } from '../../../src/values/json-names.ts'
import { type Cents, cents } from '../../../src/values/money.ts'

export type RulesInput = Omit<JsonOf<typeof PolicyCreate>, 'name'>
export const NOON = new Date('2026-11-20T12:00:00.000Z')
export const atTime = (time: string) => ({ at: new Date(`2026-11-20T${time}Z`) })

export const plainRequest: SpendRequest = {
  kind: 'intent',
  at: NOON,
  amountCents: cents(2_000n),
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
  availableCents: cents(1_000_000n),
}

/** No approval is needed, except by the rule under test. */
const noPersonAsked: RulesInput = { autoApproveLimitEuros: 1_000_000 }
export const policy = (rules: RulesInput) =>
  decodeJson(PolicyCreate, { name: 'P', ...noPersonAsked, ...rules })

/** Decides a plain request with some members, counters and rules changed. */
export const decideUnder = (
  rules: RulesInput,
  request: Partial<SpendRequest> = {},
  counters: Partial<SpendCounters> = {},
) =>
  decideSpendByRules(
    compilePolicy(policy(rules)),
    { ...plainRequest, ...request },
    { ...zeroSpendCounters, ...counters },
  )

export const outcomeOf = ({ allowed, requiresApproval }: ReturnType<typeof decideUnder>): string =>
  allowed ? (requiresApproval ? 'review' : 'pass') : 'fail'

export const anyCents = fc
  .oneof(
    fc.bigInt({ min: 0n, max: 300n }).map(cents),
    fc.bigInt({ min: 0n, max: 10_000_000_000_000n }).map(cents),
  )
  .map(cents)
export const limit = fc.option(anyCents, { nil: null })

export const budgetOf = (level: 'owner' | 'run' | 'card', limit: Cents, used: Cents) => ({
  level,
  id: `${level}_1`,
  name: `“${level}”`,
  limitCents: limit,
  usedCents: used,
})

export const riskWith = (outcome: 'pass' | 'review' | 'deny' | 'freeze') => ({
  risk: { score: 60, parts: [{ signal: 'velocity', points: 60, message: 'many at once.' }], outcome },
})

/** A mandate that these members limit and that allows everything else. */
export const mandateWith = (members: Partial<MandateUsage> = {}): MandateUsage => ({
  id: 'mandate_1',
  name: 'Books',
  expiresAt: new Date('2027-01-01T00:00:00.000Z'),
  perTransactionCents: null,
  limits: [],
  count: null,
  ...members,
})

export const limitWith = (limitCents: Cents, usedCents: Cents, period: 'day' | 'month' | 'all' = 'all') => ({
  limits: [{ period, limitCents, usedCents }],
})
