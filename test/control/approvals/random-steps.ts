import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { beginApproval } from '../../../src/identity/approvals/progress.ts'
import type { ApprovalStep } from '../../../src/values/approval-steps.ts'
import { cents } from '../../../src/values/money.ts'
import { anyName, anyPeople, anySteps, roleOrNone } from './any-steps.ts'
import { FollowedSteps, NOON } from './followed-steps.ts'
import { areAsked, type Happening, type Role, StepsOracle } from './steps-oracle.ts'

const anyAmount = fc.constantFrom(5, 15, 25, 25)
const happening = <A extends fc.Arbitrary<Happening>>(weight: number, arbitrary: A) => ({ weight, arbitrary })
const kind = <K extends Happening['kind']>(name: K) => fc.constant(name)

const anyDeputy = fc.record({
  kind: kind('deputy'),
  person: anyName,
  deputy: anyName,
  isNamed: fc.constantFrom(true, true, true, false),
})

/** Each person with the deputy of theirs, from the beginning. */
const anyDeputies = fc.constantFrom<(readonly [person: string, deputy: string])[]>(
  [],
  [['a', 'd']],
  [
    ['a', 'b'],
    ['b', 'a'],
    ['c', 'a'],
  ],
  [
    ['a', 'e'],
    ['b', 'e'],
    ['c', 'd'],
  ],
)

const anyHappening = fc.oneof(
  happening(32, fc.record({ kind: kind('approve'), person: anyName })),
  happening(12, fc.record({ kind: kind('role'), person: anyName, role: roleOrNone })),
  happening(8, anyDeputy),
  happening(1, fc.record({ kind: kind('deny'), person: anyName })),
  happening(1, fc.record({ kind: kind('amount'), amount: anyAmount })),
  happening(1, fc.record({ kind: kind('freeze') })),
  happening(1, fc.record({ kind: kind('expire') })),
)

const anyTerms = fc.record({
  amount: anyAmount,
  requesters: fc.constantFrom<string[]>([], [], [], ['a'], ['b', 'c'], ['has_left']),
  deputies: anyDeputies,
})

type Terms = typeof anyTerms extends fc.Arbitrary<infer T> ? T : never

/** Each with the minutes that pass before it. Some come at the very end of a step. */
const anyEvents = fc.array(fc.tuple(fc.constantFrom(0, 0, 0, 0, 5, 10), anyHappening), {
  minLength: 4,
  maxLength: 16,
  size: 'max',
})

/** An amount that no step is for is approved in another way. */
const applies = (steps: readonly ApprovalStep[], one: Happening): boolean =>
  one.kind !== 'amount' || areAsked(steps, one.amount)

test('ten thousand random requests go as the documented words say, after each event', () => {
  const seen = {
    events: 0,
    approved: 0,
    denied: 0,
    expired: 0,
    open: 0,
    escalated: 0,
    unasked: 0,
    deputies: 0,
  }
  const follow = (
    steps: readonly ApprovalStep[],
    people: Readonly<Record<string, Role>>,
    { deputies, ...terms }: Terms,
    events: readonly (readonly [number, Happening])[],
  ): void => {
    const [request, oracle] = [new FollowedSteps(steps, people, terms), new StepsOracle(steps, people, terms)]
    let hasDeputySigned = false
    // An assertion of Jest for each of the events would take longer than all else.
    const compare = (event: unknown): void => {
      hasDeputySigned ||= request.signatures.includes(' for ')
      const [state, expected] = [request, oracle].map(one => `${one.state}, signed: ${one.signatures}`)
      if (state !== expected) expect([event, state]).toEqual([event, expected])
    }
    for (const [person, deputy] of deputies)
      for (const one of [request, oracle]) one.take({ kind: 'deputy', person, deputy, isNamed: true })
    compare('begins')
    for (const [after, one] of events) {
      if (oracle.outcome !== 'open') break
      oracle.wait(after)
      request.wait(after)
      compare(`${after} minutes`)
      if (oracle.outcome !== 'open') break
      if (!applies(steps, one)) continue
      oracle.take(one)
      request.take(one)
      compare(one)
      seen.events++
    }
    seen[request.outcome]++
    if (request.hasEscalated) seen.escalated++
    if (hasDeputySigned) seen.deputies++
  }
  fc.assert(
    fc.property(anySteps, anyPeople, anyTerms, anyEvents, (steps, people, terms, events) => {
      if (areAsked(steps, terms.amount)) return follow(steps, people, terms, events)
      seen.unasked++
      const { amount, requesters } = terms
      expect(beginApproval(steps, cents(amount), { now: NOON, requesters })).toBeUndefined()
    }),
    // A twentieth of them asks no step.
    { numRuns: 11_000 },
  )
  // Each outcome is reached often enough to be compared.
  expect(seen.events).toBeGreaterThan(20_000)
  const { approved, denied, expired, open, escalated, unasked, deputies } = seen
  expect(Math.min(approved, denied, open, escalated, deputies)).toBeGreaterThan(500)
  expect(Math.min(expired, unasked)).toBeGreaterThan(50)
})
