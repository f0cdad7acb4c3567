import { describe, expect, test } from '@jest/globals'
import { ApplicationFailure } from '@temporalio/common'
import type { CardActivities } from '../../../activities/cards.ts'
import { type Story, storyStage } from '../../support/temporal/stories.ts'
import { until } from '../../support/until.ts'

const { play } = await storyStage<CardActivities>('card', [
  'readCard',
  'decideCard',
  'issueCard',
  'replaceNumber',
  'tellProcessor',
  'endCard',
  'returnPurse',
])

type Next = 'issue' | 'replace' | 'tell' | 'return' | 'end'

const AN_HOUR = 3_600_000
const AT = '28 Nov 2026 09:30 UTC'
const ITS_END = `for its expiry or a change, at the latest at ${AT}`

const open = (status: string, next: Next, dueInMs: number) => ({
  status,
  summary: `Card: ${status}`,
  closed: false,
  next,
  dueInMs,
  deadline: dueInMs > 0 ? AT : null,
  signals: ['freeze', 'close'],
})
const active = open('active', 'end', AN_HOUR)
const ended = { ...open('closed', 'end', 0), closed: true, next: null, dueInMs: null, signals: [] }
const done = 'Signal close by Ada: done.'

/** Temporal tries again much later: only what happens to the card can end the wait. */
const notItsTurn = () =>
  ApplicationFailure.create({ message: 'Other calls are under way', nextRetryDelay: AN_HOUR })

/** Until the run has dealt with what it heard while a try is at work. */
const untilItKnows = ({ run }: Story) =>
  until('the run knows of it', async () => {
    const { events } = await run.handle.fetchHistory()
    return events?.some(event => event.activityTaskCancelRequestedEventAttributes)
  })

describe('the run of a card', () => {
  test('has it issued, tells the processor, waits for its end, returns its purse, and tells the processor', async () => {
    const story = await play({
      readCard: [open('pending', 'issue', 0)],
      issueCard: [open('active', 'tell', 0)],
      tellProcessor: [open('active', 'end', 20), ended],
      endCard: [open('closed', 'return', 0)],
      returnPurse: [open('closed', 'tell', 0)],
    })
    expect(await story.ends()).toBe('closed')
    expect(story.calls).toEqual([
      'readCard',
      'issueCard',
      'tellProcessor',
      'endCard',
      'returnPurse',
      'tellProcessor',
    ])
    expect(await story.run.timerSummaries()).toEqual([ITS_END])
  })

  test('has at most 16 events until the card is active, and 14 more for a change that the processor is told', async () => {
    const story = await play({
      readCard: [open('pending', 'issue', 0), open('frozen', 'tell', 0)],
      issueCard: [active],
      tellProcessor: [open('frozen', 'end', AN_HOUR)],
    })
    await story.waits(ITS_END)
    const whenActive = await story.run.historyLength()
    expect(whenActive).toBeLessThanOrEqual(16)
    await story.run.signal('recordChanged')
    await until('it waits again', async () => (await story.run.timerSummaries()).length === 2)
    expect(story.calls).toEqual(['readCard', 'issueCard', 'readCard', 'tellProcessor'])
    expect((await story.run.historyLength()) - whenActive).toBeLessThanOrEqual(14)
  })

  test.each([
    ['issue', 'issueCard', `for the processor to issue it, which is tried again at ${AT}`],
    ['replace', 'replaceNumber', `for the processor to issue another number, which is tried again at ${AT}`],
    ['tell', 'tellProcessor', `for the processor to confirm its state, which is tried again at ${AT}`],
    ['return', 'returnPurse', `for the balance of its purse to be returned, which is tried again at ${AT}`],
    ['end', 'endCard', ITS_END],
  ] as const)('waits until it is time to %s, and takes that step', async (next, activity, waits) => {
    const story = await play({ readCard: [open('active', next, 20)], [activity]: [ended] })
    expect(await story.ends()).toBe('closed')
    expect(story.calls).toEqual(['readCard', activity])
    expect(await story.run.timerSummaries()).toEqual([waits])
  })

  test('says at once what the processor did not answer, and asks it again when that is due', async () => {
    const story = await play({
      readCard: [open('pending', 'issue', 0)],
      issueCard: [open('pending', 'issue', 20), open('pending', 'issue', AN_HOUR)],
    })
    await story.waits(`for the processor to issue it, which is tried again at ${AT}`)
    await until('it was asked twice', () => story.calls.length === 3)
    expect(story.calls).toEqual(['readCard', 'issueCard', 'issueCard'])
  })

  test.each(['freeze', 'unfreeze', 'close'])('carries out the signal %s, and reads the card', async verb => {
    const story = await play({ readCard: [active, ended], decideCard: [done] })
    await story.waits(ITS_END)
    await story.run.signal(verb, { by: 'Ada' })
    expect(await story.ends()).toBe('closed')
    expect(story.calls).toEqual(['readCard', `decideCard ${verb}`, 'readCard'])
  })

  test('goes on after Request Cancellation, and says that it changed nothing', async () => {
    const story = await play({ readCard: [active, ended] })
    await story.waits(ITS_END)
    await story.run.handle.cancel()
    const [line] = await story.run.untilTimeline(1)
    expect(line).toContain('Request Cancellation changed nothing')
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('closed')
  })

  test('reads a card that changed, and takes the step of its new state only', async () => {
    const story = await play({
      readCard: [active, open('frozen', 'tell', 0)],
      tellProcessor: [ended],
    })
    await story.waits(ITS_END)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('closed')
    expect(story.calls).toEqual(['readCard', 'readCard', 'tellProcessor'])
  })

  test('tries again after a second where a step left the card due and unchanged', async () => {
    const due = open('active', 'end', 0)
    const story = await play({ readCard: [due], endCard: [due, ended] })
    expect(await story.ends()).toBe('closed')
    expect(await story.run.timerSummaries()).toEqual(['for a moment, then it tries again'])
  })
})

describe('a call to the processor that has no turn yet', () => {
  test('delays no signal, and is made afterwards', async () => {
    const story = await play({
      readCard: [open('active', 'tell', 0), open('frozen', 'tell', 0)],
      tellProcessor: [notItsTurn(), ended],
      decideCard: [done],
    })
    await story.run.untilPending(/Other calls/)
    expect(await story.run.details()).toContain('It waits **for the processor to confirm its state**')
    expect(await story.run.details()).toContain(
      'Send an Update, which is answered, or a Signal: `freeze` or `close`',
    )
    await story.run.signal('freeze', { by: 'Ada' })
    expect(await story.ends()).toBe('closed')
    expect(story.calls).toEqual([
      'readCard',
      'tellProcessor',
      'decideCard freeze',
      'readCard',
      'tellProcessor',
    ])
  })

  test('is given up where the card no longer needs it', async () => {
    const story = await play({
      readCard: [open('pending', 'issue', 0), ended],
      issueCard: [notItsTurn()],
    })
    await story.run.untilPending(/Other calls/)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('closed')
    expect(story.calls).toEqual(['readCard', 'issueCard', 'readCard'])
  })
})

describe('a call to the processor that is at work', () => {
  test.each([
    ['answers', () => open('active', 'end', AN_HOUR)],
    ['fails', () => new Error('lost')],
  ])('ends before a signal is carried out, also where it %s', async (_outcome, outcome) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const story = await play({
      readCard: [open('active', 'tell', 0), ended],
      tellProcessor: [
        async () => {
          await promise
          const given = outcome()
          if (given instanceof Error) throw given
          return given
        },
      ],
      decideCard: [done],
    })
    try {
      await until('the call is made', () => story.calls.includes('tellProcessor'))
      await story.run.signal('close', { by: 'Ada' })
      await untilItKnows(story)
      expect(story.calls).toEqual(['readCard', 'tellProcessor'])
    } finally {
      resolve()
    }
    expect(await story.ends()).toBe('closed')
    expect(story.calls).toEqual(['readCard', 'tellProcessor', 'decideCard close', 'readCard'])
  })
})
