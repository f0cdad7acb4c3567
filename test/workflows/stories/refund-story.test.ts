import { describe, expect, test } from '@jest/globals'
import type { RefundActivities } from '../../../activities/refunds.ts'
import { storyStage } from '../../support/temporal/stories.ts'

const { play } = await storyStage<RefundActivities>('refund', [
  'readRefund',
  'answerRefund',
  'askMerchantForRefund',
  'giveUpRefund',
])

const AN_HOUR = 3_600_000
const UNTIL = 'until 28 Dec 2026 09:30 UTC'
const MONEY = `for the money of the merchant, ${UNTIL}`
const PROCESSOR = `for the processor of the card to ask the merchant, then for the money, ${UNTIL}`

type State = Awaited<ReturnType<RefundActivities['readRefund']>>

const pending = (dueInMs: number, mustBeAsked = false): State => ({
  status: 'pending',
  summary: 'Refund: pending',
  closed: false,
  doubtfulSince: null,
  mustBeAsked,
  dueInMs,
  deadline: '28 Dec 2026 09:30 UTC',
  signals: ['cancel'],
})
const toAsk = (dueInMs: number) => pending(dueInMs, true)
const ended = (status: State['status']): State => ({
  ...pending(0),
  status,
  closed: true,
  dueInMs: null,
  signals: [],
})

const done = 'Signal cancel by Ada: done.'

describe('the run of a refund', () => {
  test('asks the merchant until the processor has answered, then waits for the money, and gives it up in the end', async () => {
    const story = await play({
      readRefund: [toAsk(20)],
      askMerchantForRefund: [toAsk(30), pending(40)],
      giveUpRefund: [ended('failed')],
    })
    expect(await story.ends()).toBe('failed')
    expect(story.calls).toEqual([
      'readRefund',
      'askMerchantForRefund',
      'askMerchantForRefund',
      'giveUpRefund',
    ])
    expect(await story.run.timerSummaries()).toEqual([PROCESSOR, PROCESSOR, MONEY])
  })

  test('ends when the money has come, also in parts', async () => {
    const part = { ...pending(AN_HOUR), summary: 'Refund: pending, € 5.00 received' }
    const story = await play({ readRefund: [pending(AN_HOUR), part, ended('completed')] })
    await story.waits(MONEY)
    await story.run.signal('recordChanged')
    await story.run.untilDetails('€ 5.00 received')
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('completed')
    expect(story.calls).toEqual(Array(3).fill('readRefund'))
  })

  test('ends where the merchant declines', async () => {
    const story = await play({ readRefund: [toAsk(0)], askMerchantForRefund: [ended('failed')] })
    expect(await story.ends()).toBe('failed')
    expect(await story.run.timerSummaries()).toEqual([])
  })

  test('begins with what is left to do, as a run that is rebuilt from its record', async () => {
    const story = await play({ readRefund: [pending(-AN_HOUR)], giveUpRefund: [ended('failed')] })
    expect(await story.ends()).toBe('failed')
    expect(story.calls).toEqual(['readRefund', 'giveUpRefund'])
  })

  test.each(['the signal cancel', 'Request Cancellation'])('is cancelled by %s', async how => {
    const story = await play({ readRefund: [pending(AN_HOUR), ended('cancelled')], answerRefund: [done] })
    await story.waits(MONEY)
    if (how === 'Request Cancellation') await story.run.handle.cancel()
    else await story.run.signal('cancel', { by: 'Ada' })
    expect(await story.ends()).toBe('cancelled')
    expect(story.calls).toEqual(['readRefund', 'answerRefund cancel', 'readRefund'])
  })

  test('says in its timeline that a cancellation changed nothing, and goes on waiting', async () => {
    const refused = 'The signal cancel by Ada changed nothing: The refund is already completed.'
    const story = await play({
      readRefund: [pending(AN_HOUR), pending(20)],
      answerRefund: [refused],
      giveUpRefund: [ended('failed')],
    })
    await story.waits(MONEY)
    await story.run.signal('cancel', { by: 'Ada' })
    expect(await story.run.untilTimeline(1)).toEqual([refused])
    expect(await story.ends()).toBe('failed')
  })

  test('repeats each activity that fails until it succeeds', async () => {
    const away = new Error('the database is away')
    const story = await play({
      readRefund: [away, away, toAsk(0)],
      askMerchantForRefund: [away, pending(20)],
      giveUpRefund: [away, ended('failed')],
    })
    expect(await story.ends()).toBe('failed')
    for (const name of ['askMerchantForRefund', 'giveUpRefund'])
      expect(story.calls.filter(call => call === name)).toHaveLength(2)
  })
})
