import './approvals/random-steps.ts'
import './approvals/random-changes.ts'
import { describe, expect, test } from '@jest/globals'
import { CHANGE_AMOUNT } from '../../src/identity/approvals/change-request.ts'
import { policiesToAsk } from '../../src/identity/approvals/hold-change.ts'
import {
  advanceApproval,
  awaitedBy,
  beginChange,
  giveApproval,
  nextOfApproval,
  remindOfApproval,
  tightenApproval,
} from '../../src/identity/approvals/progress.ts'
import {
  type ApprovalStep,
  approvalStepInWords,
  approvalStepProblem,
  areStepsLoosened,
} from '../../src/values/approval-steps.ts'
import { cents } from '../../src/values/money.ts'
import { afterNoon, FollowedSteps, type StepTerms, stepOf } from './approvals/followed-steps.ts'

const owners = stepOf({ of: 'owners' })
const people = { ann: 'approver', ben: 'approver', olga: 'owner', otto: 'owner' } as const

describe('the steps of a request', () => {
  test('asks the next step when the first is complete', () => {
    const first = stepOf({ of: ['ann', 'ben'], need: 2, withinMinutes: 30 })
    const request = new FollowedSteps([first, owners], people)
    request.approve('ann')
    expect(request.state).toBe('open at step 0, 1 of 2 given, asked: ben')
    request.wait(20)
    request.approve('ben')
    expect(request.state).toBe('open at step 1, 2 of 3 given, asked: olga, otto')
    expect(request.progress.beganAt).toBe(afterNoon(20).toISOString())
    request.wait(59)
    request.approve('otto')
    expect(request.state).toBe('approved at step 1, 3 of 3 given')
    expect(request.hasEscalated).toBe(false)
  })

  test('asks no step for an amount that is not above it', () => {
    const steps = [stepOf(), stepOf({ ...owners, aboveCents: '1000' })]
    for (const [amount, state] of [
      [1_000, 'approved at step 0, 1 of 1 given'],
      [1_001, 'open at step 1, 1 of 2 given, asked: olga, otto'],
    ] as const) {
      const request = new FollowedSteps(steps, people, { amount })
      request.approve('ann')
      expect(request.state).toBe(state)
    }
  })

  test('denies at the end of a step that says so, not a minute before it', () => {
    const request = new FollowedSteps([stepOf(), owners], people)
    request.wait(59)
    expect(request.outcome).toBe('open')
    request.wait(1)
    expect(request.state).toBe('denied at step 0, 0 of 1 given')
  })
})

describe('an approval of a person whom the step no longer asks', () => {
  test('is dropped, and asked anew of who may give it', () => {
    const request = new FollowedSteps([owners, stepOf({ of: ['ben'] })], people)
    request.approve('olga')
    request.setRole('olga', 'approver')
    expect(request.state).toBe('open at step 1, 0 of 2 given, asked: ben, otto')
    request.approve('ben')
    request.setRole('olga', 'owner')
    expect(request.state).toBe('open at step 1, 1 of 2 given, asked: olga, otto')
    request.approve('olga')
    expect(request.state).toBe('approved at step 1, 2 of 2 given')
  })
})

describe('a step that is not complete in time', () => {
  test('passes the open approvals to the people of the next step', () => {
    const first = stepOf({ of: ['ann', 'ben'], need: 2, ending: 'next' })
    const request = new FollowedSteps([first, owners], people)
    request.approve('ann')
    request.wait(60)
    expect(request.state).toBe('open at step 1, 1 of 3 given, asked: ben, olga, otto')
    expect(request.hasEscalated).toBe(true)
    request.approve('otto')
    // Ben may give the one that was passed on; he is no owner.
    request.approve('ben')
    expect(request.state).toBe('approved at step 1, 3 of 3 given')
  })

  test('passes them to a step that the amount does not exceed, which needs none of its own', () => {
    const steps = [
      stepOf({ of: ['ann'], ending: 'next' }),
      stepOf({ of: 'owners', aboveCents: '5000', need: 2, withinMinutes: 10 }),
    ]
    const request = new FollowedSteps(steps, people)
    request.wait(60)
    expect(request.state).toBe('open at step 1, 0 of 1 given, asked: ann, olga, otto')
    request.approve('olga')
    expect(request.state).toBe('approved at step 1, 1 of 1 given')
    const late = new FollowedSteps(steps, people)
    late.wait(60)
    late.wait(10)
    expect(late.state).toBe('denied at step 1, 0 of 1 given')
  })

  test('opens no complete step to later people', () => {
    const steps = [stepOf({ of: ['ann'] }), stepOf({ of: ['ben'], ending: 'next' }), owners]
    const request = new FollowedSteps(steps, people)
    request.approve('ann')
    request.wait(60)
    expect(request.state).toBe('open at step 2, 1 of 3 given, asked: ben, olga, otto')
    request.setRole('ann', undefined)
    expect(request.outcome).toBe('denied')
  })
})

describe('the people who are said to be asked', () => {
  test('are those of an earlier step again, whose approval counts in the present one', () => {
    const request = new FollowedSteps([stepOf({ of: ['ann', 'olga'] }), owners], people)
    expect(request.awaits).toEqual(['ann', 'olga'])
    request.approve('olga')
    expect(request.state).toBe('open at step 1, 1 of 2 given, asked: ann, otto')
    expect(request.awaits).toEqual(['ann', 'owners'])
    request.setRole('olga', 'approver')
    expect(request.state).toBe('open at step 1, 1 of 2 given, asked: otto')
    expect(request.awaits).toEqual(['owners'])
  })

  test('are not those who have given all that they can, nor who made the request', () => {
    const first = stepOf({ of: ['ann', 'ben', 'olga'], need: 2, ending: 'next' })
    const request = new FollowedSteps([first, owners], people, { requesters: ['olga'] })
    expect(request.awaits).toEqual(['ann', 'ben'])
    request.approve('ann')
    request.wait(60)
    expect(request.awaits).toEqual(['ben', 'owners'])
    request.approve('ben')
    expect(request.state).toBe('open at step 1, 2 of 3 given, asked: otto')
    expect(request.awaits).toEqual(['owners'])
  })

  test('are not those who have left', () => {
    const request = new FollowedSteps([stepOf({ of: ['ann', 'ben', 'otto'], need: 2 })], people)
    request.setRole('ben', undefined)
    expect(request.awaits).toEqual(['ann', 'otto'])
    request.setRole('ann', undefined)
    expect(request.outcome).toBe('denied')
    expect(request.awaits).toEqual(['otto'])
  })

  test('are those of each step of a change that is open', () => {
    const approvers = [
      { id: 'ann', role: 'approver' },
      { id: 'olga', role: 'owner' },
    ] as const
    const begun = beginChange([[stepOf({ of: ['ann'] }), owners]], { approvers, now: afterNoon(0) })
    const signed = giveApproval(begun, approvers, { personId: 'ann', now: afterNoon(1) })
    expect(awaitedBy(begun, approvers)).toEqual(['ann', 'owners'])
    expect(awaitedBy(signed, approvers)).toEqual(['owners'])
  })
})

describe('the people of a request', () => {
  test('denies when too few people are left', () => {
    const request = new FollowedSteps([stepOf({ of: ['ann', 'ben'], need: 2 })], people)
    request.approve('ann')
    request.setRole('ben', undefined)
    expect(request.state).toBe('denied at step 0, 1 of 2 given')
  })

  test('asks the next step at once when too few people are left and the step says so', () => {
    const request = new FollowedSteps([stepOf({ of: ['ann'], ending: 'next' }), owners], people)
    request.wait(5)
    request.setRole('ann', undefined)
    expect(request.state).toBe('open at step 1, 0 of 2 given, asked: olga, otto')
    expect(nextOfApproval(request.progress).at).toEqual(afterNoon(35))
    request.setRole('olga', 'approver')
    expect(request.state).toBe('denied at step 1, 0 of 2 given')
  })

  test('counts a person in one step only', () => {
    const request = new FollowedSteps([stepOf(), owners], { ann: 'approver', olga: 'owner' })
    request.approve('olga')
    // She is the only owner: her approval is the one of an owner, and another approver is asked.
    expect(request.state).toBe('open at step 1, 1 of 2 given, asked: ann')
    request.approve('olga')
    expect(request.whyNotAsked('olga')).toBe('given')
    expect(request.state).toBe('open at step 1, 1 of 2 given, asked: ann')
    // An owner may give what an approver is asked for, too; there is none who has not approved.
    expect(request.awaits).toEqual(['approvers'])
    const alone = new FollowedSteps([stepOf(), owners], { olga: 'owner' })
    alone.approve('olga')
    expect(alone.state).toBe('denied at step 1, 1 of 2 given')
  })

  test('does not count who made the request', () => {
    const steps = [stepOf({ of: ['ann', 'ben', 'olga'] })]
    const request = new FollowedSteps(steps, people, { requesters: ['ann', 'olga'] })
    request.approve('ann')
    request.approve('olga')
    expect(request.state).toBe('open at step 0, 0 of 1 given, asked: ben')
    expect(['ann', 'ben', 'otto'].map(one => request.whyNotAsked(one))).toEqual([
      'requester',
      undefined,
      'not_asked',
    ])
    expect(new FollowedSteps(steps, people, { requesters: ['ann', 'ben', 'olga'] }).outcome).toBe('denied')
  })

  test('a removed person’s approval no longer counts', () => {
    const request = new FollowedSteps([stepOf({ need: 2 })], people)
    request.approve('ann')
    request.setRole('ann', undefined)
    expect(request.state).toBe('open at step 0, 0 of 2 given, asked: ben, olga, otto')
    request.setRole('ann', 'approver')
    expect(request.state).toBe('open at step 0, 0 of 2 given, asked: ann, ben, olga, otto')
  })

  test('the approval of a person who is an owner no longer does not count as one of an owner', () => {
    const request = new FollowedSteps([stepOf({ of: 'owners', need: 2 })], { ...people, ann: 'owner' })
    request.approve('ann')
    request.setRole('ann', 'approver')
    expect(request.state).toBe('open at step 0, 0 of 2 given, asked: olga, otto')
  })
})

describe('a deputy', () => {
  const olga = stepOf({ of: ['olga'] })

  test('approves in place of a person who is asked, which the record says', () => {
    const request = new FollowedSteps([olga, stepOf({ of: 'owners' })], people)
    expect(request.whyNotAsked('ann')).toBe('not_asked')
    request.setDeputy('olga', 'ann')
    expect(request.state).toBe('open at step 0, 0 of 1 given, asked: ann, olga')
    request.approve('ann')
    expect(request.state).toBe('open at step 1, 1 of 2 given, asked: otto')
    expect(request.progress.given).toEqual([
      { personId: 'ann', inPlaceOf: 'olga', role: 'owner', at: afterNoon(0).toISOString() },
    ])
    expect(['olga', 'ann'].map(one => request.whyNotAsked(one))).toEqual(['given', 'given'])
  })

  test('finds the approval given by the person in whose place it would be', () => {
    const request = new FollowedSteps([stepOf({ of: ['olga', 'otto'], need: 2 })], people)
    request.setDeputy('olga', 'ann')
    request.approve('olga')
    expect(request.whyNotAsked('ann')).toBe('given')
    expect(request.state).toBe('open at step 0, 1 of 2 given, asked: otto')
  })

  test('who is asked too approves for themselves, and once', () => {
    const request = new FollowedSteps([stepOf({ of: ['ann', 'olga'], need: 2 })], people)
    request.setDeputy('olga', 'ann')
    request.approve('ann')
    expect(request.signatures).toBe('ann')
    expect(request.whyNotAsked('ann')).toBe('given')
    expect(request.state).toBe('open at step 0, 1 of 2 given, asked: olga')
  })

  test('of two people counts once', () => {
    const request = new FollowedSteps([stepOf({ of: ['olga', 'otto'], need: 2 })], people)
    request.setDeputy('otto', 'ann')
    request.setDeputy('olga', 'ann')
    request.approve('ann')
    request.approve('ann')
    expect(request.signatures).toBe('ann for olga')
    expect(request.state).toBe('open at step 0, 1 of 2 given, asked: otto')
  })

  test('who has approved is none of those who can still approve, by themselves or by a deputy', () => {
    const request = new FollowedSteps([olga, stepOf({ of: ['ann', 'ben'] })], people)
    request.setDeputy('olga', 'ann')
    request.setDeputy('ann', 'otto')
    request.approve('ann')
    expect(request.state).toBe('open at step 1, 1 of 2 given, asked: ben')
    expect(request.whyNotAsked('otto')).toBe('given')
    request.setRole('ben', undefined)
    expect(request.outcome).toBe('denied')
  })

  test('of who made the request does not approve for them, nor do they for others', () => {
    const steps = [stepOf({ of: ['olga', 'otto'], need: 1 })]
    const request = new FollowedSteps(steps, people, { requesters: ['olga'] })
    request.setDeputy('olga', 'ann')
    request.setDeputy('otto', 'olga')
    expect(['ann', 'olga'].map(one => request.whyNotAsked(one))).toEqual(['requester', 'requester'])
    request.setDeputy('olga', 'otto')
    request.approve('otto')
    expect(request.signatures).toBe('otto')
    expect(request.outcome).toBe('approved')
  })

  test('of a person who is not asked, or whose deputy no more, is not asked', () => {
    const request = new FollowedSteps([olga], people)
    request.setDeputy('otto', 'ann')
    request.setDeputy('olga', 'ben')
    expect(request.state).toBe('open at step 0, 0 of 1 given, asked: ben, olga')
    request.setDeputy('olga', 'ben', false)
    expect(['ann', 'ben'].map(one => request.whyNotAsked(one))).toEqual(['not_asked', 'not_asked'])
  })

  test('has approved for good once the span is over, until one of both leaves', () => {
    for (const gone of ['ann', 'olga']) {
      const request = new FollowedSteps([stepOf({ of: 'owners', need: 2 })], { ...people, carl: 'owner' })
      request.setDeputy('olga', 'ann')
      request.approve('ann')
      request.setDeputy('olga', 'ann', false)
      request.wait(5)
      expect(request.signatures).toBe('ann for olga')
      request.setRole(gone, undefined)
      expect([request.signatures, request.outcome]).toEqual(['', 'open'])
    }
  })
})

test('reads what was recorded before there were deputies', () => {
  const request = new FollowedSteps([stepOf({ need: 2 })], people)
  const given = [{ personId: 'ann', at: afterNoon(0).toISOString() }]
  request.progress = JSON.parse(JSON.stringify({ ...request.progress, given }))
  expect(request.state).toBe('open at step 0, 1 of 2 given, asked: ben, olga, otto')
})

test('starts anew', () => {
  const request = new FollowedSteps([stepOf({ of: ['ann'] }), owners], people)
  const before = request.progress
  request.approve('ann')
  request.wait(40)
  request.restart()
  expect(request.state).toBe('open at step 0, 0 of 1 given, asked: ann')
  expect(request.progress).toEqual({ ...before, beganAt: afterNoon(40).toISOString() })
  request.wait(59)
  expect(request.outcome).toBe('open')
  request.wait(1)
  expect(request.outcome).toBe('denied')
})

describe('steps that ask more meanwhile', () => {
  const tighten = (request: FollowedSteps, steps: readonly ApprovalStep[], amount = 1_000): string => {
    request.progress = tightenApproval(request.progress, steps, cents(amount))
    request.wait(0)
    return request.state
  }

  test('keep what was approved and the time that has passed', () => {
    const request = new FollowedSteps([stepOf({ need: 2 }), owners], people)
    request.approve('ann')
    request.wait(30)
    expect(tighten(request, [stepOf({ need: 3, withinMinutes: 50 }), owners])).toBe(
      'open at step 0, 1 of 3 given, asked: ben, olga, otto',
    )
    request.wait(20)
    expect(request.state).toBe('denied at step 0, 1 of 3 given')
  })

  test('ask in an earlier step again, and in a step that the amount exceeds now', () => {
    const far = stepOf({ of: 'owners', aboveCents: '5000' })
    const request = new FollowedSteps([stepOf({ of: ['ann', 'ben'] }), owners, far], people)
    request.approve('ann')
    const nearer = stepOf({ of: 'owners', aboveCents: '10' })
    expect(tighten(request, [stepOf({ of: ['ann', 'ben'], need: 2 }), owners, nearer])).toBe(
      'open at step 1, 1 of 3 given, asked: ben, olga, otto',
    )
    for (const person of ['olga', 'ben', 'otto']) request.approve(person)
    expect(request.state).toBe('approved at step 2, 4 of 4 given')
  })

  test('let no one stand in for a step that denies now', () => {
    const goesOn = stepOf({ of: ['ann', 'ben'], need: 2, ending: 'next' })
    const request = new FollowedSteps([goesOn, owners], people)
    request.wait(60)
    for (const person of ['olga', 'otto']) request.approve(person)
    expect(request.state).toBe('open at step 1, 2 of 3 given, asked: ann, ben')
    const denies = stepOf({ of: ['ann', 'ben'], need: 2 })
    expect(tighten(request, [denies, owners])).toBe('open at step 1, 1 of 3 given, asked: ann, ben')
  })
})

describe('reminders', () => {
  test('sends each reminder once: at half of the time and an hour before the end', () => {
    const { progress } = new FollowedSteps([stepOf({ withinMinutes: 240 })], people)
    expect(nextOfApproval(progress)).toEqual({ at: afterNoon(120), what: 'remind' })
    expect(remindOfApproval(progress, afterNoon(119))).toBeUndefined()
    const half = remindOfApproval(progress, afterNoon(120)) ?? progress
    expect(half.reminders).toBe(1)
    expect(remindOfApproval(half, afterNoon(179))).toBeUndefined()
    expect(nextOfApproval(half)).toEqual({ at: afterNoon(180), what: 'remind' })
    const both = remindOfApproval(half, afterNoon(180)) ?? half
    expect(both.reminders).toBe(2)
    expect(remindOfApproval(both, afterNoon(239))).toBeUndefined()
    expect(nextOfApproval(both)).toEqual({ at: afterNoon(240), what: 'end' })
  })

  test('sends late ones as one, and none at the end', () => {
    const { progress } = new FollowedSteps([stepOf({ withinMinutes: 240 })], people)
    expect(remindOfApproval(progress, afterNoon(200))?.reminders).toBe(2)
    expect(remindOfApproval(progress, afterNoon(240))).toBeUndefined()
  })

  test('sends those of the next step from its own beginning', () => {
    const request = new FollowedSteps([stepOf({ withinMinutes: 240, ending: 'next' }), owners], people)
    request.progress = remindOfApproval(request.progress, afterNoon(180)) ?? request.progress
    request.wait(240)
    expect(nextOfApproval(request.progress)).toEqual({ at: afterNoon(270), what: 'remind' })
    const reminded = remindOfApproval(request.progress, afterNoon(270)) ?? request.progress
    expect(nextOfApproval(reminded)).toEqual({ at: afterNoon(300), what: 'end' })
  })
})

const next = stepOf({ ending: 'next' })

test.each<[readonly ApprovalStep[], path: string | undefined]>([
  [[], undefined],
  [[stepOf()], undefined],
  [[next, next, next, stepOf()], undefined],
  [[stepOf({ aboveCents: '999' }), stepOf({ aboveCents: '1000' })], undefined],
  [[stepOf({ of: ['ann', 'ben'] }), stepOf({ of: ['ann'] })], undefined],
  [[next], '0.then'],
  [[stepOf(), next], '1.then'],
  [[stepOf({ aboveCents: '1000' }), stepOf({ aboveCents: '999' })], '1.aboveEuros'],
  [[stepOf(), stepOf({ aboveCents: '1000' }), stepOf({ aboveCents: '1' })], '2.aboveEuros'],
  [[stepOf(), stepOf({ of: ['ann', 'ben', 'ann'] })], '1.of'],
])('steps that contradict themselves, case %#', (steps, path) => {
  expect(approvalStepProblem(steps)?.path.join('.')).toBe(path)
})

const before = stepOf({ aboveCents: '1000', of: ['ann', 'ben'], need: 2 })

test.each<[string, readonly ApprovalStep[], readonly ApprovalStep[], boolean]>([
  ['none', [], [], false],
  ['a first step', [], [before], false],
  ['the same', [before], [before], false],
  ['another step of the same people', [before], [before, { ...before, aboveCents: '2000' }], false],
  ['a further step of other people, who approve changes then', [before], [before, owners], true],
  ['a further step of fewer people', [before], [before, { ...before, need: 1 }], false],
  ['a lower amount', [before], [{ ...before, aboveCents: '999' }], false],
  [
    'a lower amount of more digits',
    [{ ...before, aboveCents: '9' }],
    [{ ...before, aboveCents: '10' }],
    true,
  ],
  ['more approvals', [before], [{ ...before, need: 3 }], false],
  ['less time until it denies', [before], [{ ...before, withinMinutes: 59 }], false],
  ['denies at the end', [next, owners], [stepOf(), owners], false],
  ['no step', [before], [], true],
  ['one step less', [before, owners], [before], true],
  ['a higher amount', [before], [{ ...before, aboveCents: '1001' }], true],
  ['fewer approvals', [before], [{ ...before, need: 1 }], true],
  ['more time', [before], [{ ...before, withinMinutes: 61 }], true],
  ['asks the next step at the end', [stepOf(), owners], [next, owners], true],
  ['one more person', [before], [{ ...before, of: ['ann', 'ben', 'olga'] }], true],
  ['another person', [before], [{ ...before, of: ['ann', 'olga'] }], true],
  ['a wider group', [owners], [stepOf()], true],
  ['a weaker second step', [before, stepOf({ need: 2 })], [before, stepOf()], true],
])('whether less is asked than before: %s', (_, from, to, isLoosened) => {
  expect(areStepsLoosened(from, to)).toBe(isLoosened)
})

const [ann, twoApprovers] = [stepOf({ of: ['ann'] }), stepOf({ need: 2 })]

test.each<[string, readonly (readonly ApprovalStep[])[], readonly string[]]>([
  ['all steps of a policy', [[ann, owners]], ['1 of ann + 1 of owners']],
  [
    'the most of the same people',
    [[owners], [stepOf({ of: 'owners', need: 2 })], [stepOf({ of: 'owners', aboveCents: '99' })]],
    ['2 of owners'],
  ],
  [
    'named people in any order',
    [[stepOf({ of: ['ben', 'ann'] })], [stepOf({ of: ['ann', 'ben'] })]],
    ['1 of ann,ben'],
  ],
  ['owners, who are approvers', [[stepOf()], [owners]], ['1 of owners']],
  ['each of other people', [[twoApprovers], [owners]], ['1 of owners', '2 of approvers']],
  [
    'a policy that has the steps of another, in any order',
    [[ann, owners], [owners, ann], [ann]],
    ['1 of ann + 1 of owners'],
  ],
  [
    'each where one step would stand for two',
    [[stepOf(), stepOf()], [owners]],
    ['1 of approvers + 1 of approvers', '1 of owners'],
  ],
  [
    'each where others may stand in for the people of one',
    [[ann], [stepOf({ of: ['ann'], ending: 'next' }), owners]],
    ['1 of ann', '1 of ann + 1 of owners'],
  ],
])('changes under several policies are decided by %s', (_, policies, asked) => {
  const groups = policiesToAsk(policies).map(steps =>
    steps
      .map(({ of, need }) => `${need} of ${of}`)
      .toSorted()
      .join(' + '),
  )
  expect(groups.toSorted()).toEqual(asked)
})

const approvers = [
  { id: 'ann', role: 'approver' },
  { id: 'olga', role: 'owner' },
  { id: 'otto', role: 'owner' },
] as const

/** Whether these people, one after the other, can have a change made under the policies. */
function canChange(
  policies: readonly (readonly ApprovalStep[])[],
  people: readonly string[],
  able: Parameters<typeof beginChange>[1]['approvers'] = approvers,
): boolean {
  const circumstances = { approvers: able, now: afterNoon(0) }
  let progress = beginChange(policiesToAsk(policies), circumstances)
  for (const personId of people) progress = giveApproval(progress, able, { personId, now: circumstances.now })
  return advanceApproval(progress, CHANGE_AMOUNT, circumstances).outcome === 'approved'
}

test('an approval of a change counts in each policy, and there in one step', () => {
  expect(canChange([[twoApprovers], [owners]], ['olga'])).toBe(false)
  expect(canChange([[twoApprovers], [owners]], ['ann', 'olga'])).toBe(true)
  expect(canChange([[stepOf(), owners]], ['olga'])).toBe(false)
  expect(canChange([[stepOf(), owners]], ['olga', 'otto'])).toBe(true)
})

test('of a step that goes on, the next people stand in only where too few are left', () => {
  const steps = [stepOf({ of: ['ann'], ending: 'next' }), owners]
  expect(canChange([steps], ['olga'])).toBe(false)
  expect(canChange([steps], ['ann', 'olga'])).toBe(true)
  const owned = approvers.filter(({ id }) => id !== 'ann')
  expect(canChange([steps], ['olga'], owned)).toBe(false)
  expect(canChange([steps], ['olga', 'otto'], owned)).toBe(true)
})

test.each<[StepTerms, string]>([
  [{}, 'above € 0.00: an approver within an hour, else deny'],
  [
    { aboveCents: '100000', of: 'owners', need: 2, withinMinutes: 240 },
    'above € 1,000.00: 2 owners within 4 hours, else deny',
  ],
  [{ of: 'owners', withinMinutes: 1 }, 'above € 0.00: an owner within a minute, else deny'],
  [
    { need: 3, withinMinutes: 90, ending: 'next' },
    'above € 0.00: 3 approvers within 90 minutes, else ask the next step as well',
  ],
  [{ of: ['ann'], withinMinutes: 1_440 }, 'above € 0.00: 1 of 1 named person within a day, else deny'],
  [
    { aboveCents: '1050', of: ['ann', 'ben', 'olga'], need: 2, withinMinutes: 2_880 },
    'above € 10.50: 2 of 3 named people within 2 days, else deny',
  ],
])('a step in words, case %#', (terms, words) => {
  expect(approvalStepInWords(stepOf(terms))).toBe(words)
})
