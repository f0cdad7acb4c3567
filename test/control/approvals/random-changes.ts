import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { CHANGE_AMOUNT } from '../../../src/identity/approvals/change-request.ts'
import { policiesToAsk } from '../../../src/identity/approvals/hold-change.ts'
import {
  type Approver,
  advanceApproval,
  beginChange,
  giveApproval,
  whyNotAsked,
} from '../../../src/identity/approvals/progress.ts'
import type { ApprovalStep } from '../../../src/values/approval-steps.ts'
import { anyPeople, anySteps, names } from './any-steps.ts'
import { FollowedSteps, NOON } from './followed-steps.ts'
import type { Role } from './steps-oracle.ts'

const approversOf = (people: Readonly<Record<string, Role>>): Approver[] =>
  Object.entries(people).map(([id, role]) => ({ id, role }))

/** Whether a change of the policies is made once these people have approved it. */
function canChange(
  policies: readonly (readonly ApprovalStep[])[],
  approvers: readonly Approver[],
  yeses: readonly string[],
): boolean {
  const circumstances = { approvers, now: NOON }
  let progress = beginChange(policiesToAsk(policies), circumstances)
  for (const personId of yeses)
    if (!whyNotAsked(progress, approvers, personId))
      progress = giveApproval(progress, approvers, { personId, now: NOON })
  return advanceApproval(progress, CHANGE_AMOUNT, circumstances).outcome === 'approved'
}

/** Whether a payment above all amounts is approved once these people have approved it, before any time has passed. */
function canPay(
  steps: readonly ApprovalStep[],
  people: Readonly<Record<string, Role>>,
  yeses: readonly string[],
): boolean {
  const request = new FollowedSteps(steps, people, { amount: 1_000_000 })
  // Who is asked only in a later step approves in a later round.
  for (const person of yeses.flatMap(() => yeses)) request.approve(person)
  return request.outcome === 'approved'
}

test('whoever cannot have a payment approved cannot change what it asks, for ten thousand random policies', () => {
  const seen = { changed: 0, unchanged: 0, unpaid: 0 }
  fc.assert(
    fc.property(
      fc.tuple(anySteps, anySteps),
      anyPeople,
      fc.subarray([...names]),
      (policies, people, yeses) => {
        const isChanged = canChange(policies, approversOf(people), yeses)
        const paid = policies.map(steps => canPay(steps, people, yeses))
        if (paid.includes(false)) {
          seen.unpaid++
          expect(isChanged).toBe(false)
        } else expect(isChanged).toBe(true)
        seen[isChanged ? 'changed' : 'unchanged']++
      },
    ),
    { numRuns: 10_000 },
  )
  expect(Math.min(seen.changed, seen.unchanged, seen.unpaid)).toBeGreaterThan(200)
})
