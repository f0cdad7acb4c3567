import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  encodeDecisionCounters,
  encodeDecisionRequest,
} from '../../../src/control/decisions/stored-decision.ts'
import {
  compileCardTerms,
  compilePolicy,
  decideSpendByRules,
  policyRuleTable,
} from '../../../src/control/rules/decide.ts'
import type { SpendRequest, SpendRuling } from '../../../src/control/rules/decision.ts'
import { PolicyCreate } from '../../../src/control/rules/rules.ts'
import { encodeJson } from '../../../src/values/json-names.ts'
import { type Cents, cents, NO_CENTS } from '../../../src/values/money.ts'
import {
  anyControls,
  aPolicy,
  aRequest,
  noControls,
  severity,
  strictestOf,
  withoutMoney,
} from '../../support/control/card-spends.ts'
import { decideUnder } from '../../support/control/decide.ts'
import { decideAgain } from '../../support/control/decide-again.ts'
import { anyCounters, nullable } from '../../support/control/random-spends.ts'

const positionOf = (name: string): number =>
  policyRuleTable.findIndex(rule => rule.name === name || rule.alias === name)

describe('a decision with the terms of a card', () => {
  test('is never more lenient than without them, nor than they are', () => {
    const spent = { pass: 0, declined: 0 }
    fc.assert(
      fc.property(aPolicy, aRequest, anyCounters, anyControls, (rules, request, counters, card) => {
        const compiled = compilePolicy(rules)
        const without = decideSpendByRules(compiled, { ...request, card: null }, counters)
        const ruling = decideSpendByRules(compiled, { ...request, card }, counters)
        const ofCard = compileCardTerms(card).rules.flatMap(
          ({ evaluate }) =>
            evaluate({
              request,
              counters,
              holdCents: NO_CENTS,
              amountInWords: '',
              outcomeSoFar: 'pass',
              mandate: undefined,
            }) ?? [],
        )
        const expected = Math.max(
          strictestOf({ checks: withoutMoney(without) }),
          strictestOf({ checks: ofCard }),
        )
        expect(strictestOf({ checks: withoutMoney(ruling) })).toBe(expected)
        const pays = ({ allowed, requiresApproval }: SpendRuling) => allowed && !requiresApproval
        // The card's limit cuts the tolerance, so less money may be enough; it is more lenient in no other
        // way.
        if (pays(ruling)) expect(strictestOf({ checks: [...withoutMoney(without), ...ofCard] })).toBe(0)
        if (pays(without) && strictestOf({ checks: ofCard }) === 0) expect(pays(ruling)).toBe(true)
        expect(ruling.holdCents <= without.holdCents && ruling.holdCents >= request.amountCents).toBe(true)
        const most = card.maxTransactionCents ?? ruling.holdCents
        if (pays(ruling)) expect(ruling.holdCents <= most).toBe(true)
        spent[pays(ruling) ? 'pass' : 'declined']++
      }),
      { numRuns: 1_500 },
    )
    expect(spent.pass).toBeGreaterThan(5)
    expect(spent.declined).toBeGreaterThan(5)
  })

  test('has one check of each rule, in the order of the table, and never a milder one than the policy’s', () => {
    fc.assert(
      fc.property(aPolicy, aRequest, anyCounters, anyControls, (rules, request, counters, card) => {
        const compiled = compilePolicy(rules)
        const { checks } = decideSpendByRules(compiled, { ...request, card }, counters)
        const positions = checks.map(({ rule }) => positionOf(rule))
        expect(positions).toEqual([...new Set(positions)].sort((one, other) => one - other))
        const without = decideSpendByRules(compiled, { ...request, card: null }, counters)
        for (const before of withoutMoney(without)) {
          const now = checks.find(({ rule }) => positionOf(rule) === positionOf(before.rule))
          expect(severity[now?.outcome ?? 'skip']).toBeGreaterThanOrEqual(severity[before.outcome])
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('gives the reason of the first rule of the table that stops it, and of two limits the narrower', () => {
    const card = { ...noControls, maxTransactionCents: cents(5_000n), merchantBlocklist: ['Bookshop'] }
    const reason = (rules: Parameters<typeof decideUnder>[0], request: Partial<SpendRequest>) =>
      decideUnder(rules, request).reason
    expect(reason({}, { card })).toBe('On the card: Bookshop is on the blocklist, as Bookshop.')
    expect(reason({}, { card, agentStatus: 'frozen' })).toBe('The agent is frozen: it cannot spend.')
    const dear = { amountCents: cents(10_000n) }
    const limited = (cents: Cents) => ({ ...dear, card: { ...noControls, maxTransactionCents: cents } })
    expect(reason({ maxTransactionEuros: 20 }, limited(cents(5_000n)))).toBe(
      '€ 100.00 is above the limit of € 20.00 for one payment.',
    )
    expect(reason({ maxTransactionEuros: 20 }, limited(cents(1_000n)))).toBe(
      'On the card: € 100.00 is above the limit of € 10.00 for one payment.',
    )
    const { checks } = decideUnder({ maxTransactionEuros: 200 }, limited(cents(15_000n)))
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
        const version = JSON.parse(JSON.stringify(encodeJson(PolicyCreate, rules)))
        const asked = { ...request, card }
        const row = JSON.parse(
          JSON.stringify({
            request: encodeDecisionRequest(asked),
            counters: encodeDecisionCounters(counters),
          }),
        )
        const terms = card && compileCardTerms(card)
        const ruling = decideSpendByRules(compilePolicy(rules), asked, counters, terms)
        expect(isDeepStrictEqual(decideAgain(row, version), ruling)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })
})
