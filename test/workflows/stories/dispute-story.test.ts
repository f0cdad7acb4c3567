import { describe, expect, test } from '@jest/globals'
import type { DisputeActivities } from '../../../activities/disputes.ts'
import { storyStage } from '../../support/temporal/stories.ts'

const { play } = await storyStage<DisputeActivities>('dispute', [
  'readDispute',
  'followDisputeDeadlines',
  'callAboutDispute',
])

const AN_HOUR = 3_600_000
const AT = '28 Nov 2026 09:30 UTC'
const EVIDENCE = `for evidence, until ${AT}`
const DECISION = `for the card network to decide; the next inquiry is at ${AT}`

type State = Awaited<ReturnType<DisputeActivities['readDispute']>>

const state = (
  status: State['status'],
  pendingCall: State['pendingCall'],
  dueInMs: number,
  isCallNext = pendingCall !== null,
): State => ({
  status,
  summary: `Dispute: ${status}`,
  closed: false,
  doubtfulSince: null,
  pendingCall,
  isCallNext,
  dueInMs,
  deadline: AT,
  signals: [],
})
const ended = (status: State['status']): State => ({
  ...state(status, null, 0),
  closed: true,
  dueInMs: null,
  deadline: null,
})

describe('the run of a dispute', () => {
  test('opens it, waits for evidence, submits it at the deadline, and asks until the network has decided', async () => {
    const story = await play({
      readDispute: [state('open', 'open', 0)],
      callAboutDispute: [state('open', null, 20), state('submitted', 'inquire', 30), ended('won')],
      followDisputeDeadlines: [state('submitted', 'document', 0)],
    })
    expect(await story.ends()).toBe('won')
    expect(story.calls).toEqual([
      'readDispute',
      'callAboutDispute',
      'followDisputeDeadlines',
      'callAboutDispute',
      'callAboutDispute',
    ])
    expect(await story.run.timerSummaries()).toEqual([EVIDENCE, DECISION])
  })

  test('sends the reminder, and lets a dispute without evidence lapse', async () => {
    const story = await play({
      readDispute: [state('open', null, 20)],
      followDisputeDeadlines: [state('open', null, 30), ended('lapsed')],
    })
    expect(await story.ends()).toBe('lapsed')
    expect(await story.run.timerSummaries()).toEqual([EVIDENCE, EVIDENCE])
  })

  test.each([
    ['open', 'the card processor to open it'],
    ['document', 'the card processor to take the evidence'],
    ['file', 'the card processor to submit it'],
    ['withdraw', 'the card processor to withdraw it'],
    ['inquire', 'the card network to decide'],
  ] as const)('calls again where no answer came to %s', async (call, what) => {
    const story = await play({
      readDispute: [state('submitted', call, 20)],
      callAboutDispute: [ended('withdrawn')],
    })
    expect(await story.ends()).toBe('withdrawn')
    expect(story.calls).toEqual(['readDispute', 'callAboutDispute'])
    expect(await story.run.timerSummaries()).toEqual([`for ${what}; the next inquiry is at ${AT}`])
  })

  test('gives the provisional credit at its time, before a later call', async () => {
    const story = await play({
      readDispute: [state('submitted', 'inquire', 20, false)],
      followDisputeDeadlines: [state('submitted', 'inquire', 30)],
      callAboutDispute: [ended('won')],
    })
    expect(await story.ends()).toBe('won')
    expect(story.calls).toEqual(['readDispute', 'followDisputeDeadlines', 'callAboutDispute'])
  })

  test('reads a dispute that was withdrawn meanwhile, and tells the processor', async () => {
    const story = await play({
      readDispute: [state('open', null, AN_HOUR), state('withdrawn', 'withdraw', 0)],
      callAboutDispute: [ended('withdrawn')],
    })
    await story.waits(EVIDENCE)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('withdrawn')
    expect(story.calls).toEqual(['readDispute', 'readDispute', 'callAboutDispute'])
  })

  test('ends when a report of the network has ended the dispute', async () => {
    const story = await play({ readDispute: [state('submitted', 'inquire', AN_HOUR), ended('lost')] })
    await story.waits(DECISION)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('lost')
  })

  test('goes on after Request Cancellation and an unknown signal, and says that they changed nothing', async () => {
    const story = await play({ readDispute: [state('open', null, AN_HOUR), ended('lost')] })
    await story.waits(EVIDENCE)
    await story.run.handle.cancel()
    const [line] = await story.run.untilTimeline(1)
    expect(line).toContain('Request Cancellation changed nothing')
    await story.run.signal('withdraw', { by: 'Ada' })
    await story.run.untilDetails('A signal withdraw was ignored')
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('lost')
  })

  test('repeats each activity that fails until it succeeds', async () => {
    const away = new Error('the database is away')
    const story = await play({
      readDispute: [away, away, state('open', 'open', 0)],
      callAboutDispute: [away, state('open', null, 20)],
      followDisputeDeadlines: [away, ended('lapsed')],
    })
    expect(await story.ends()).toBe('lapsed')
    for (const name of ['callAboutDispute', 'followDisputeDeadlines'])
      expect(story.calls.filter(call => call === name)).toHaveLength(2)
  })
})
