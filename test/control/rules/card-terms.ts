import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { encode } from 'zod'
import { storedCounters, storedRequest } from '../../../src/control/decisions/stored-decision.ts'
import { compileCardTerms, compilePolicy, decide, ruleTable } from '../../../src/control/rules/decide.ts'
import {
  type CardControls,
  type Ruling,
  type SpendRequest,
  zeroCounters,
} from '../../../src/control/rules/decision.ts'
import { PolicyCreate } from '../../../src/control/rules/rules.ts'
import { decideUnder, plainRequest, policy, riskWith } from '../../support/control/decide.ts'
import { decideAgain } from '../../support/control/decide-again.ts'
import {
  anyCounters,
  anyPolicy,
  anyRequest,
  mcc,
  merchant,
  nullable,
} from '../../support/control/random-spends.ts'

const noControls: CardControls = {
  maxTransactionEuros: null,
  merchantAllowlist: [],
  merchantBlocklist: [],
  allowedCountries: [],
  allowedMccs: [],
  blockedMccs: [],
  mccCategories: [],
}

const strictControls: fc.Arbitrary<CardControls> = fc.record({
  maxTransactionEuros: nullable(fc.bigInt({ min: 0n, max: 600n })),
  merchantAllowlist: fc.array(merchant, { maxLength: 2 }),
  merchantBlocklist: fc.array(merchant, { maxLength: 1 }),
  allowedCountries: fc.array(fc.constantFrom('DE', 'FR'), { maxLength: 2 }),
  allowedMccs: fc.array(mcc, { maxLength: 2 }),
  blockedMccs: fc.array(mcc, { maxLength: 1 }),
  mccCategories: fc.array(fc.constantFrom('software', 'travel'), { maxLength: 2 }),
})

const anyControls = fc.oneof(
  strictControls,
  strictControls.map(({ maxTransactionEuros }) => ({ ...noControls, maxTransactionEuros })),
)

/** Requests that little speaks against, so that cards and policies decide. */
const likelyRequest = fc.tuple(anyRequest, fc.bigInt({ min: 1n, max: 600n })).map(
  ([request, amountEuros]): SpendRequest => ({
    ...request,
    amountEuros,
    agentStatus: 'active',
    policyEndsAt: null,
    budgets: [],
    risk: null,
    possibleDuplicateOf: null,
    walletFrozen: false,
  }),
)
const aRequest = fc.oneof(anyRequest, likelyRequest)

const mildPolicy = anyPolicy.map(rules => ({
  ...rules,
  merchantAllowlist: [],
  lockToFirstMerchant: false,
  activeHoursStart: null,
  activeHoursEnd: null,
}))
const aPolicy = fc.oneof(anyPolicy, mildPolicy, fc.constant(policy({})))
/** Often a policy that nothing but a person’s approval stands against. */
const askingPolicy = fc.oneof(anyPolicy, fc.constant(policy({ autoApproveLimitEuros: 0.01 })))

const severity = { skip: 0, pass: 0, review: 1, fail: 2 } as const
const strictestOf = ({ checks }: Pick<Ruling, 'checks'>) =>
  Math.max(0, ...checks.map(({ outcome }) => severity[outcome]))
/** A spend that waits for a person needs no money yet: by these rules alone it may wait rather than fail. */
const OF_MONEY: ReadonlySet<string> = new Set(['walletStatus', 'insufficient_funds'])
const withoutMoney = ({ checks }: Ruling) => checks.filter(({ rule }) => !OF_MONEY.has(rule))

const positionOf = (name: string): number =>
  ruleTable.findIndex(rule => rule.name === name || rule.alias === name)

const SKIPPED = 'It was judged with the intent that covers this payment.'

describe('a decision with the terms of a card', () => {
  test('is never more lenient than without them, nor than they are', () => {
    const spent = { pass: 0, declined: 0 }
    fc.assert(
      fc.property(aPolicy, aRequest, anyCounters, anyControls, (rules, request, counters, card) => {
        const compiled = compilePolicy(rules)
        const without = decide(compiled, { ...request, card: null }, counters)
        const ruling = decide(compiled, { ...request, card }, counters)
        const ofCard = compileCardTerms(card).rules.flatMap(
          ({ evaluate }) =>
            evaluate({ request, counters, holdEuros: 0n, amountInWords: '', outcomeSoFar: 'pass' }) ?? [],
        )
        const expected = Math.max(
          strictestOf({ checks: withoutMoney(without) }),
          strictestOf({ checks: ofCard }),
        )
        expect(strictestOf({ checks: withoutMoney(ruling) })).toBe(expected)
        const pays = ({ allowed, requiresApproval }: Ruling) => allowed && !requiresApproval
        expect(pays(ruling)).toBe(pays(without) && strictestOf({ checks: ofCard }) === 0)
        expect(ruling.holdEuros).toBe(without.holdEuros)
        spent[pays(ruling) ? 'pass' : 'declined']++
      }),
      { numRuns: 4_000 },
    )
    expect(spent.pass).toBeGreaterThan(20)
    expect(spent.declined).toBeGreaterThan(20)
  })

  test('has one check of each rule, in the order of the table, and never a milder one than the policy’s', () => {
    fc.assert(
      fc.property(aPolicy, aRequest, anyCounters, anyControls, (rules, request, counters, card) => {
        const compiled = compilePolicy(rules)
        const { checks } = decide(compiled, { ...request, card }, counters)
        const positions = checks.map(({ rule }) => positionOf(rule))
        expect(positions).toEqual([...new Set(positions)].sort((one, other) => one - other))
        const without = decide(compiled, { ...request, card: null }, counters)
        for (const before of withoutMoney(without)) {
          const now = checks.find(({ rule }) => positionOf(rule) === positionOf(before.rule))
          expect(severity[now?.outcome ?? 'skip']).toBeGreaterThanOrEqual(severity[before.outcome])
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('gives the reason of the first rule of the table that stops it, and of two limits the narrower', () => {
    const card = { ...noControls, maxTransactionEuros: 5_000n, merchantBlocklist: ['Bookshop'] }
    const reason = (rules: Parameters<typeof decideUnder>[0], request: Partial<SpendRequest>) =>
      decideUnder(rules, request).reason
    expect(reason({}, { card })).toBe('On the card: Bookshop is on the blocklist, as Bookshop.')
    expect(reason({}, { card, agentStatus: 'frozen' })).toBe('The agent is frozen: it cannot spend.')
    const dear = { amountEuros: 10_000n }
    const limited = (cents: bigint) => ({ ...dear, card: { ...noControls, maxTransactionEuros: cents } })
    expect(reason({ maxTransactionEuros: 20 }, limited(5_000n))).toBe(
      '€ 100.00 is above the limit of € 20.00 for one payment.',
    )
    expect(reason({ maxTransactionEuros: 20 }, limited(1_000n))).toBe(
      'On the card: € 100.00 is above the limit of € 10.00 for one payment.',
    )
    const { checks } = decideUnder({ maxTransactionEuros: 200 }, limited(15_000n))
    expect(checks.find(({ rule }) => rule === 'maxTransactionEuros')).toMatchObject({
      outcome: 'pass',
      limit: 150,
      remaining: 50,
    })
  })

  test('names the categories of the card and of the policy as one rule', () => {
    const card = { ...noControls, allowedMccs: ['4511'] }
    const { checks, reason } = decideUnder({ mccCategories: ['education'], allowedMccs: ['5942'] }, { card })
    expect(checks.filter(({ rule }) => positionOf(rule) === positionOf('allowedMccs'))).toHaveLength(1)
    expect(reason).toMatch(/^On the card: /)
  })

  test('replays to the same ruling from its stored row', () => {
    fc.assert(
      fc.property(aPolicy, aRequest, anyCounters, nullable(anyControls), (rules, request, counters, card) => {
        const version = JSON.parse(JSON.stringify(encode(PolicyCreate, rules)))
        const asked = { ...request, card }
        const row = JSON.parse(
          JSON.stringify({ request: storedRequest(asked), counters: storedCounters(counters) }),
        )
        const terms = card && compileCardTerms(card)
        const ruling = decide(compilePolicy(rules), asked, counters, terms)
        expect(isDeepStrictEqual(decideAgain(row, version), ruling)).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a payment by card', () => {
  /** The rules that an approved intent was judged by. A rule that is missing here is judged at every payment. */
  const judgedWithIntent = [
    'cooldownMinutes',
    'maxUsageCount',
    'maxTransactionEuros',
    'dailyLimitEuros',
    'monthlyLimitEuros',
    'possibleDuplicate',
    'requireAttestation',
    'autoApproveLimitEuros',
    'amountTolerancePercent',
    'insufficient_funds',
  ]
  const ofCard = (request: SpendRequest, intentId: string | null): SpendRequest => ({
    ...request,
    kind: 'card',
    intentId,
  })

  test('that an intent covers skips the rules that the intent was judged by, and no other', () => {
    fc.assert(
      fc.property(aPolicy, aRequest, anyCounters, (rules, request, counters) => {
        const compiled = compilePolicy(rules)
        const { checks } = decide(compiled, ofCard(request, 'intent_1'), counters)
        const skipped = checks.filter(({ message }) => message === SKIPPED)
        const expected = compiled.rules.filter(({ name }) => judgedWithIntent.includes(name))
        expect(skipped.map(({ rule }) => rule)).toEqual(expected.map(({ name }) => name))
        expect(skipped.every(({ outcome }) => outcome === 'skip')).toBe(true)
        const judged = checks.filter(({ message }) => message !== SKIPPED)
        const intent = decide(
          compiled,
          { ...ofCard(request, null), intentId: 'intent_1', kind: 'payment' },
          counters,
        )
        for (const check of judged) {
          if (check.rule === 'requireIntent' || OF_MONEY.has(check.rule)) continue
          expect(intent.checks).toContainEqual(check)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('never waits for a person: what would wait is declined, and the reason says to declare an intent', () => {
    let declined = 0
    fc.assert(
      fc.property(
        askingPolicy,
        likelyRequest,
        anyCounters,
        nullable(anyControls),
        (rules, request, counters, card) => {
          const { allowed, requiresApproval, reason, checks } = decide(
            compilePolicy(rules),
            { ...ofCard(request, null), card },
            counters,
          )
          expect(requiresApproval).toBe(false)
          expect(allowed).toBe(strictestOf({ checks }) === 0)
          const wouldWait = strictestOf({ checks }) === 1
          expect(/POST \/intents/.test(reason)).toBe(wouldWait)
          if (wouldWait) declined++
        },
      ),
      { numRuns: 2_000 },
    )
    expect(declined).toBeGreaterThan(20)
  })

  test('that an intent covers is not told to declare another one', () => {
    const risky = ofCard({ ...plainRequest, ...riskWith('review') }, 'intent_1')
    const { allowed, reason } = decide(compilePolicy(policy({})), risky, zeroCounters)
    expect(allowed).toBe(false)
    expect(reason).toContain('an intent covers this payment already')
    expect(reason).not.toContain('POST /intents')
  })

  test('that an intent covers is still within the limit of its card', () => {
    const card = { ...noControls, maxTransactionEuros: 1_000n }
    const covered = { ...ofCard(plainRequest, 'intent_1'), card }
    const { allowed, reason } = decide(
      compilePolicy(policy({ maxTransactionEuros: 5 })),
      covered,
      zeroCounters,
    )
    expect([allowed, reason]).toEqual([
      false,
      'On the card: € 20.00 is above the limit of € 10.00 for one payment.',
    ])
  })
})
