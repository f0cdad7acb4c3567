import { describe, expect, test } from '@jest/globals'
import type { IntentActivities } from '../../../activities/intents.ts'
import { storyStage } from '../../support/temporal/stories.ts'
import { until } from '../../support/until.ts'

const { play } = await storyStage<IntentActivities>('intent', [
  'readIntent',
  'decideIntent',
  'remindApprovers',
  'endApprovalStep',
  'expireIntent',
])

const AN_HOUR = 3_600_000
const APPROVAL = 'for a person’s approval, until 28 Nov 2026 09:30 UTC'
const PAYMENT = 'for its payment, until 28 Nov 2026 09:30 UTC'

const open = (status: string, dueInMs: number | null, isBeingPaid = false) => ({
  status,
  summary: `Intent: ${status}`,
  closed: false,
  isBeingPaid,
  dueInMs,
  deadline: '28 Nov 2026 09:30 UTC',
  signals: ['approve', 'deny', 'cancel'],
})
const COUNT = '1 of 2, owners until 28 Nov 2026 09:00 UTC, then deny'
const asking = (next: 'remind' | 'end', dueInMs: number) => ({
  ...open('created', dueInMs),
  ...{ approvals: COUNT, next, signals: ['deny', 'cancel'] },
})
const counted = (dueInMs: number) => ({ ...open('created', dueInMs), approvals: COUNT })
const ended = (status: string) => ({ ...open(status, null), closed: true, signals: [] })

const done = 'Signal approve by Ada: done.'

describe('the run of an intent', () => {
  test('waits for a person, and expires the intent at its deadline', async () => {
    const story = await play({ readIntent: [open('created', 20)], expireIntent: [ended('expired')] })
    expect(await story.ends()).toBe('expired')
    expect(story.calls).toEqual(['readIntent', 'expireIntent'])
    expect(await story.run.timerSummaries()).toEqual([APPROVAL])
  })

  test('waits for the payment of an approved intent, and expires it at its deadline', async () => {
    const story = await play({ readIntent: [open('approved', 20)], expireIntent: [ended('expired')] })
    expect(await story.ends()).toBe('expired')
    expect(await story.run.timerSummaries()).toEqual([PAYMENT])
  })

  test('expires an overdue intent at once, as after an outage', async () => {
    const story = await play({ readIntent: [open('created', -AN_HOUR)], expireIntent: [ended('expired')] })
    expect(await story.ends()).toBe('expired')
    expect(await story.run.timerSummaries()).toEqual([])
  })

  test('reminds the people who are asked, and ends a step that is not complete in time', async () => {
    const story = await play({
      readIntent: [asking('remind', 20)],
      remindApprovers: [asking('end', 20)],
      endApprovalStep: [ended('denied')],
    })
    expect(await story.ends()).toBe('denied')
    expect(story.calls).toEqual(['readIntent', 'remindApprovers', 'endApprovalStep'])
    expect(await story.run.timerSummaries()).toEqual([`for approvals: ${COUNT}`, `for approvals: ${COUNT}`])
  })

  test('expires an intent whose deadline comes before the end of its step', async () => {
    const story = await play({
      readIntent: [counted(20)],
      expireIntent: [ended('expired')],
    })
    expect(await story.ends()).toBe('expired')
    expect(story.calls).toEqual(['readIntent', 'expireIntent'])
  })

  test.each(['approve', 'deny', 'cancel'])('carries out the signal %s, and reads the intent', async verb => {
    const story = await play({
      readIntent: [open('created', AN_HOUR), ended('denied')],
      decideIntent: [done],
    })
    await story.waits(APPROVAL)
    await story.run.signal(verb, { by: 'Ada' })
    expect(await story.ends()).toBe('denied')
    expect(story.calls).toEqual(['readIntent', `decideIntent ${verb}`, 'readIntent'])
  })

  test('cancels the intent on Request Cancellation', async () => {
    const story = await play({
      readIntent: [open('approved', AN_HOUR), ended('cancelled')],
      decideIntent: [done],
    })
    await story.waits(PAYMENT)
    await story.run.handle.cancel()
    expect(await story.ends()).toBe('cancelled')
    expect(story.calls).toEqual(['readIntent', 'decideIntent cancel', 'readIntent'])
  })

  test('goes on waiting after a signal that changed nothing, and says so in its timeline', async () => {
    const refused = 'The signal approve by Ada changed nothing: The agent is frozen.'
    const story = await play({
      readIntent: [open('created', AN_HOUR), open('created', AN_HOUR), ended('cancelled')],
      decideIntent: [refused, done],
    })
    await story.waits(APPROVAL)
    await story.run.signal('approve', { by: 'Ada' })
    expect(await story.run.untilTimeline(1)).toEqual([refused])
    await until('it is read again', () => story.calls.length === 3)
    await story.run.signal('cancel', { by: 'Ada' })
    expect(await story.ends()).toBe('cancelled')
  })

  test('reads the intent when it has changed: it was approved, it is being paid, it is completed', async () => {
    const story = await play({
      readIntent: [
        open('created', AN_HOUR),
        open('approved', AN_HOUR),
        open('approved', null, true),
        ended('completed'),
      ],
    })
    for (const what of [APPROVAL, PAYMENT, 'for the end of its payment']) {
      await story.waits(what)
      await story.run.signal('recordChanged')
    }
    expect(await story.ends()).toBe('completed')
    expect(story.calls).toEqual(['readIntent', 'readIntent', 'readIntent', 'readIntent'])
  })

  test('tries again after a second where an overdue intent did not expire', async () => {
    const overdue = open('created', 0)
    const story = await play({ readIntent: [overdue], expireIntent: [overdue, ended('expired')] })
    expect(await story.ends()).toBe('expired')
    expect(story.calls).toEqual(['readIntent', 'expireIntent', 'expireIntent'])
    expect(await story.run.timerSummaries()).toEqual(['for a moment, then it tries again'])
  })

  test('repeats an activity that fails, and a reading that fails, until they succeed', async () => {
    const away = new Error('the database is away')
    const story = await play({
      readIntent: [away, away, open('created', 0)],
      expireIntent: [away, ended('expired')],
    })
    expect(await story.ends()).toBe('expired')
    expect(story.calls.filter(call => call === 'expireIntent')).toHaveLength(2)
  })
})
