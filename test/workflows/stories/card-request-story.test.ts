import { describe, expect, test } from '@jest/globals'
import type { CardRequestActivities } from '../../../activities/card-requests.ts'
import { storyStage } from '../../support/temporal/stories.ts'
import { until } from '../../support/until.ts'

const { play } = await storyStage<CardRequestActivities>('card-request', [
  'readCardRequest',
  'answerCardRequest',
  'remindCardApprovers',
  'endCardApprovalStep',
  'expireCardRequest',
  'carryOutCardRequest',
])

const AN_HOUR = 3_600_000
const APPROVAL = 'for a person’s approval, until 28 Nov 2026 09:30 UTC'
const ISSUE = 'for the processor to issue the card'

const open = (status: string, dueInMs: number | null, isCardRequested = false) => ({
  status,
  summary: `Card request: ${status}`,
  closed: false,
  isCardRequested,
  dueInMs,
  deadline: '28 Nov 2026 09:30 UTC',
  signals: [],
})
const COUNT = '1 of 2, owners until 28 Nov 2026 09:00 UTC, then deny'
const counted = (dueInMs: number) => ({ ...open('pending', dueInMs), approvals: COUNT })
const asking = (next: 'remind' | 'end', dueInMs: number) => ({ ...counted(dueInMs), next })
const ended = (status: string) => ({ ...open(status, null), closed: true })
const pending = open('pending', AN_HOUR)
const approved = open('approved', 0)
const atProcessor = open('approved', null, true)
const done = 'Signal approve by Ada: done.'

describe('the run of a card request', () => {
  test('waits for a person, and expires the request at its deadline', async () => {
    const story = await play({
      readCardRequest: [open('pending', 20)],
      expireCardRequest: [ended('expired')],
    })
    expect(await story.ends()).toBe('expired')
    expect(story.calls).toEqual(['readCardRequest', 'expireCardRequest'])
    expect(await story.run.timerSummaries()).toEqual([APPROVAL])
  })

  test('reminds the people who are asked, and ends a step that is not complete in time', async () => {
    const story = await play({
      readCardRequest: [asking('remind', 20)],
      remindCardApprovers: [asking('end', 20)],
      endCardApprovalStep: [ended('denied')],
    })
    expect(await story.ends()).toBe('denied')
    expect(story.calls).toEqual(['readCardRequest', 'remindCardApprovers', 'endCardApprovalStep'])
    expect(await story.run.timerSummaries()).toEqual([`for approvals: ${COUNT}`, `for approvals: ${COUNT}`])
  })

  test('expires a request whose deadline comes before the end of its step', async () => {
    const story = await play({ readCardRequest: [counted(20)], expireCardRequest: [ended('expired')] })
    expect(await story.ends()).toBe('expired')
    expect(story.calls).toEqual(['readCardRequest', 'expireCardRequest'])
  })

  test('has the card of an approved request requested, and waits until it is issued, with at most 31 events', async () => {
    const story = await play({
      readCardRequest: [pending, approved, ended('issued')],
      carryOutCardRequest: [atProcessor],
    })
    await story.waits(APPROVAL)
    await story.run.signal('recordChanged')
    await story.waits(ISSUE)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('issued')
    expect(story.calls).toEqual([
      'readCardRequest',
      'readCardRequest',
      'carryOutCardRequest',
      'readCardRequest',
    ])
    expect(await story.run.historyLength()).toBeLessThanOrEqual(31)
  })

  test('continues with an approval that was not carried out, as after an outage', async () => {
    const story = await play({ readCardRequest: [approved], carryOutCardRequest: [ended('changed')] })
    expect(await story.ends()).toBe('changed')
    expect(await story.run.timerSummaries()).toEqual([])
  })

  test('ends where the approval cannot be carried out', async () => {
    const story = await play({ readCardRequest: [approved], carryOutCardRequest: [ended('failed')] })
    expect(await story.ends()).toBe('failed')
  })

  test.each([
    ['approve', 'issued'],
    ['deny', 'denied'],
    ['cancel', 'cancelled'],
  ])('carries out the signal %s, and reads the request', async (verb, status) => {
    const story = await play({ readCardRequest: [pending, ended(status)], answerCardRequest: [done] })
    await story.waits(APPROVAL)
    await story.run.signal(verb, { by: 'Ada' })
    expect(await story.ends()).toBe(status)
    expect(story.calls).toEqual(['readCardRequest', `answerCardRequest ${verb}`, 'readCardRequest'])
  })

  test('cancels the request on Request Cancellation', async () => {
    const story = await play({
      readCardRequest: [pending, ended('cancelled')],
      answerCardRequest: [done],
    })
    await story.waits(APPROVAL)
    await story.run.handle.cancel()
    expect(await story.ends()).toBe('cancelled')
    expect(story.calls).toEqual(['readCardRequest', 'answerCardRequest cancel', 'readCardRequest'])
  })

  test('says in its timeline that a signal changed nothing, and goes on waiting', async () => {
    const refused = 'The signal approve by Ada changed nothing: The agent is frozen.'
    const story = await play({
      readCardRequest: [pending, pending, ended('denied')],
      answerCardRequest: [refused, done],
    })
    await story.waits(APPROVAL)
    await story.run.signal('approve', { by: 'Ada' })
    expect(await story.run.untilTimeline(1)).toEqual([refused])
    await until('it is read again', () => story.calls.length === 3)
    await story.run.signal('deny', { by: 'Ada' })
    expect(await story.ends()).toBe('denied')
  })
})
