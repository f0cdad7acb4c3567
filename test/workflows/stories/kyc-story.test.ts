import { describe, expect, test } from '@jest/globals'
import type { KycActivities } from '../../../activities/kyc.ts'
import { storyStage } from '../../support/temporal/stories.ts'

const { play } = await storyStage<KycActivities>('kyc', [
  'readIdentityCheck',
  'submitIdentity',
  'askProvider',
])

const AN_HOUR = 3_600_000
const DOCUMENTS = 'for the provider to be given the documents'
const ANSWER = 'for the provider to answer; the next inquiry is at 28 Nov 2026 09:30 UTC'
const DECISION = 'for the provider to decide; the next inquiry is at 28 Nov 2026 09:30 UTC'
const OPERATOR = 'for the operator to decide'

const open = (status: string, dueInMs: number | null, isSubmitted = true) => ({
  status,
  summary: `Identity check: ${status}`,
  closed: false,
  isSubmitted,
  dueInMs,
  deadline: dueInMs === null ? null : '28 Nov 2026 09:30 UTC',
  signals: [],
})
const created = open('pending', 0, false)
const silent = (dueInMs: number) => open('pending', dueInMs)
const inReview = (dueInMs: number | null) => open('in_review', dueInMs)
const ended = (status: string) => ({ ...open(status, null), closed: true })

describe('the run of an identity check', () => {
  test('ends with the provider’s answer to the submission', async () => {
    const story = await play({ readIdentityCheck: [created], submitIdentity: [ended('verified')] })
    expect(await story.ends()).toBe('verified')
    expect(story.calls).toEqual(['readIdentityCheck', 'submitIdentity'])
    expect(await story.run.timerSummaries()).toEqual([])
  })

  test('submits again to a provider that does not answer, until it does', async () => {
    const story = await play({
      readIdentityCheck: [created],
      submitIdentity: [silent(20), silent(30), ended('rejected')],
    })
    expect(await story.ends()).toBe('rejected')
    expect(story.calls).toEqual(['readIdentityCheck', ...Array(3).fill('submitIdentity')])
    expect(await story.run.timerSummaries()).toEqual([ANSWER, ANSWER])
  })

  test('asks a provider that reviews the documents, until it has decided', async () => {
    const story = await play({
      readIdentityCheck: [created],
      submitIdentity: [inReview(20)],
      askProvider: [inReview(30), ended('verified')],
    })
    expect(await story.ends()).toBe('verified')
    expect(story.calls).toEqual(['readIdentityCheck', 'submitIdentity', 'askProvider', 'askProvider'])
    expect(await story.run.timerSummaries()).toEqual([DECISION, DECISION])
  })

  test('waits for the operator where no provider decides', async () => {
    const story = await play({
      readIdentityCheck: [created, ended('verified')],
      submitIdentity: [inReview(null)],
    })
    await story.waits(OPERATOR)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('verified')
    expect(story.calls).toEqual(['readIdentityCheck', 'submitIdentity', 'readIdentityCheck'])
  })

  test('ends when the operator or a notice has decided before the provider answered', async () => {
    const story = await play({ readIdentityCheck: [silent(AN_HOUR), ended('rejected')] })
    await story.waits(ANSWER)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('rejected')
    expect(story.calls).toEqual(['readIdentityCheck', 'readIdentityCheck'])
  })

  test('asks at once where the provider says that something has changed', async () => {
    const story = await play({
      readIdentityCheck: [inReview(AN_HOUR), inReview(0)],
      askProvider: [ended('verified')],
    })
    await story.waits(DECISION)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('verified')
    expect(story.calls).toEqual(['readIdentityCheck', 'readIdentityCheck', 'askProvider'])
  })

  test('begins with what is left to do, as a run that is rebuilt from its record', async () => {
    const story = await play({ readIdentityCheck: [inReview(-AN_HOUR)], askProvider: [ended('verified')] })
    expect(await story.ends()).toBe('verified')
    expect(story.calls).toEqual(['readIdentityCheck', 'askProvider'])
  })

  test('waits where the documents are not due to be handed over yet', async () => {
    const story = await play({
      readIdentityCheck: [open('pending', 20, false)],
      submitIdentity: [ended('verified')],
    })
    expect(await story.ends()).toBe('verified')
    expect(await story.run.timerSummaries()).toEqual([DOCUMENTS])
  })

  test('says that Request Cancellation and unknown signals change nothing, and goes on waiting', async () => {
    const story = await play({ readIdentityCheck: [silent(AN_HOUR), ended('verified')] })
    await story.waits(ANSWER)
    await story.run.handle.cancel()
    await story.run.untilTimeline(1)
    await story.run.signal('approve', { by: 'Ada' })
    expect(await story.run.untilTimeline(2)).toEqual([
      'Request Cancellation changed nothing: the run goes on until its record has ended.',
      'A signal approve was ignored: no such signal is known.',
    ])
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('verified')
  })

  test('repeats each activity that fails until it succeeds', async () => {
    const away = new Error('the database is away')
    const story = await play({
      readIdentityCheck: [away, away, created],
      submitIdentity: [away, inReview(20)],
      askProvider: [away, ended('verified')],
    })
    expect(await story.ends()).toBe('verified')
    for (const name of ['submitIdentity', 'askProvider'])
      expect(story.calls.filter(call => call === name)).toHaveLength(2)
  })
})
