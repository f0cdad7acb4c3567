import { describe, expect, test } from '@jest/globals'
import { ApplicationFailure } from '@temporalio/common'
import type { WebhookActivities } from '../../../activities/webhooks.ts'
import { storyStage } from '../../support/temporal/stories.ts'

const { play } = await storyStage<WebhookActivities>('webhook', [
  'readDelivery',
  'decideDelivery',
  'sendAgain',
])

const AN_HOUR = 3_600_000
const at = '28 Nov 2026 09:30 UTC'

interface Given {
  readonly status?: string
  readonly isPaused?: boolean
  readonly isUnderWay?: boolean
  readonly deadline?: null
}

const waiting = (attempt: number, dueInMs: number | null, given: Given = {}) => ({
  status: 'pending',
  summary: `agent.created to webhook_1 in test mode: attempt ${attempt}`,
  closed: false,
  isUnderWay: false,
  isPaused: false,
  attempt,
  maxAttempts: 6,
  receiver: 'hooks.example.com',
  dueInMs,
  deadline: at,
  signals: ['retryNow'],
  ...given,
})
const ended = (status: string) => ({
  ...waiting(6, null, { status, deadline: null }),
  closed: true,
  signals: [],
})

describe('the run of a delivery that failed', () => {
  test('waits for each attempt, and makes it, until the receiver accepts one', async () => {
    const story = await play({
      readDelivery: [waiting(2, 20)],
      sendAgain: [waiting(3, 30), ended('delivered')],
    })
    expect(await story.ends()).toBe('delivered')
    expect(story.calls).toEqual(['readDelivery', 'sendAgain', 'sendAgain'])
    expect(await story.run.timerSummaries()).toEqual([
      `for attempt 2 of 6 to hooks.example.com at ${at}`,
      `for attempt 3 of 6 to hooks.example.com at ${at}`,
    ])
  })

  test('of five attempts has 58 events at the most', async () => {
    const story = await play({
      readDelivery: [waiting(2, 20)],
      sendAgain: [waiting(3, 20), waiting(4, 20), waiting(5, 20), ended('dead')],
    })
    expect(await story.ends()).toBe('dead')
    expect(await story.run.activityNames()).toEqual(Array.from({ length: 4 }, () => 'sendAgain'))
    expect(await story.run.historyLength()).toBeLessThanOrEqual(58)
  })

  test('makes an attempt at once that is long due, as after an outage', async () => {
    const story = await play({ readDelivery: [waiting(2, -AN_HOUR)], sendAgain: [ended('delivered')] })
    expect(await story.ends()).toBe('delivered')
    expect(await story.run.timerSummaries()).toEqual([])
  })

  test('waits for the end of a pause of the receiver', async () => {
    const story = await play({
      readDelivery: [waiting(2, 20, { isPaused: true })],
      sendAgain: [ended('delivered')],
    })
    expect(await story.ends()).toBe('delivered')
    expect(await story.run.timerSummaries()).toEqual([
      `for attempt 2 of 6 to hooks.example.com, which keeps failing and is paused until ${at}`,
    ])
  })

  test('waits for the answer of an attempt that somebody else makes, and looks what became of it', async () => {
    const story = await play({
      readDelivery: [waiting(2, 20, { status: 'delivering', isUnderWay: true })],
      sendAgain: [ended('delivered')],
    })
    expect(await story.ends()).toBe('delivered')
    expect(await story.run.timerSummaries()).toEqual(['for the answer of hooks.example.com'])
  })

  test('leaves a replay to a deliverer, until it is told what became of it', async () => {
    const story = await play({
      readDelivery: [waiting(1, null, { deadline: null }), ended('delivered')],
    })
    await story.waits('for a deliverer, which sends it anew to hooks.example.com')
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('delivered')
    expect(story.calls).toEqual(['readDelivery', 'readDelivery'])
  })

  test('carries out retryNow, which needs no payload, and makes the attempt at once', async () => {
    const story = await play({
      readDelivery: [waiting(2, AN_HOUR), waiting(2, 0)],
      decideDelivery: ['Signal retryNow: done.'],
      sendAgain: [ended('delivered')],
    })
    await story.waits(`for attempt 2 of 6 to hooks.example.com at ${at}`)
    await story.run.signal('retryNow')
    expect(await story.ends()).toBe('delivered')
    expect(story.calls).toEqual(['readDelivery', 'decideDelivery retryNow', 'readDelivery', 'sendAgain'])
  })

  test('goes on waiting after a signal that changed nothing, and says so in its timeline', async () => {
    const refused = 'The signal retryNow changed nothing.'
    const story = await play({
      readDelivery: [waiting(2, AN_HOUR), waiting(2, AN_HOUR), ended('pending')],
      decideDelivery: [refused],
    })
    await story.waits(`for attempt 2 of 6 to hooks.example.com at ${at}`)
    await story.run.signal('retryNow')
    expect(await story.run.untilTimeline(1)).toEqual([refused])
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('pending')
  })

  test('hears a signal while other attempts at the receiver come first', async () => {
    const busy = ApplicationFailure.create({ message: 'Others come first', nextRetryDelay: AN_HOUR })
    const story = await play({
      readDelivery: [waiting(2, 0)],
      decideDelivery: ['Signal retryNow: done.'],
      sendAgain: [busy, ended('delivered')],
    })
    await story.run.untilPending(/Others come first/)
    await story.run.signal('retryNow')
    expect(await story.ends()).toBe('delivered')
    expect(story.calls).toEqual([
      'readDelivery',
      'sendAgain',
      'decideDelivery retryNow',
      'readDelivery',
      'sendAgain',
    ])
  })

  test('ends where its subscription no longer serves', async () => {
    const story = await play({ readDelivery: [waiting(2, 20)], sendAgain: [ended('pending')] })
    expect(await story.ends()).toBe('pending')
    expect(story.calls).toEqual(['readDelivery', 'sendAgain'])
  })

  test('is not ended by Request Cancellation, and says so', async () => {
    const story = await play({
      readDelivery: [waiting(2, AN_HOUR), ended('delivered')],
    })
    await story.waits(`for attempt 2 of 6 to hooks.example.com at ${at}`)
    await story.run.handle.cancel()
    expect(await story.run.untilTimeline(1)).toEqual([
      expect.stringContaining('Request Cancellation changed nothing'),
    ])
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('delivered')
  })

  test('repeats an attempt that failed by itself, until it succeeds', async () => {
    const story = await play({
      readDelivery: [waiting(2, 0)],
      sendAgain: [new Error('the database is away'), ended('delivered')],
    })
    expect(await story.ends()).toBe('delivered')
    expect(story.calls.filter(call => call === 'sendAgain')).toHaveLength(2)
  })
})
