import { describe, expect, test } from '@jest/globals'
import type { AgentActivities } from '../../../activities/agents.ts'
import { storyStage } from '../../support/temporal/stories.ts'

const { play } = await storyStage<AgentActivities>('agent', [
  'readAgent',
  'expirePolicy',
  'closeCards',
  'cancelIntents',
  'endRuns',
  'returnMoney',
  'finishDeletion',
])

const AN_HOUR = 3_600_000
const END = 'for the policy to end, 28 Nov 2026 09:30 UTC'

const state = (status: string, dueInMs: number | null) => ({
  status,
  summary: `Agent: ${status}`,
  closed: dueInMs === null,
  left: null,
  dueInMs,
  deadline: dueInMs === null ? null : '28 Nov 2026 09:30 UTC',
  signals: [],
})
const ending = (dueInMs: number) => state('active', dueInMs)
const idle = state('active', null)
const deleted = state('deleted', null)

const ALL = { card: 'card_1', intent: 'intent_1', run: 'run_1', wallet: 'wallet_1' }
const NOTHING = { card: null, intent: null, run: null, wallet: null }
const deleting = (left: Partial<Record<keyof typeof ALL, string>>, dueInMs = 0) => ({
  ...state('deleting', dueInMs),
  deadline: null,
  left: { ...NOTHING, ...left },
})

const { wallet, run, intent } = ALL
const withoutCards = deleting({ wallet, run, intent })
const withoutIntents = deleting({ wallet, run })
const withoutRuns = deleting({ wallet })
const withNothing = deleting({})

describe('the run of an agent whose policy ends', () => {
  test('waits for the end, and expires the policy', async () => {
    const story = await play({ readAgent: [ending(20)], expirePolicy: [idle] })
    expect(await story.ends()).toBe('active')
    expect(story.calls).toEqual(['readAgent', 'expirePolicy'])
    expect(await story.run.timerSummaries()).toEqual([END])
  })

  test('waits anew where the end was moved, and ends where it was removed', async () => {
    const moved = { ...ending(2 * AN_HOUR), deadline: '28 Nov 2026 10:30 UTC' }
    const story = await play({ readAgent: [ending(AN_HOUR), moved, idle] })
    await story.waits(END)
    await story.run.signal('recordChanged')
    await story.waits('for the policy to end, 28 Nov 2026 10:30 UTC')
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('active')
    expect(story.calls).toEqual(['readAgent', 'readAgent', 'readAgent'])
  })

  test('says that Request Cancellation and unknown signals change nothing, and goes on waiting', async () => {
    const story = await play({ readAgent: [ending(AN_HOUR), idle] })
    await story.waits(END)
    await story.run.handle.cancel()
    await story.run.untilTimeline(1)
    await story.run.signal('delete', { by: 'Ada' })
    expect(await story.run.untilTimeline(2)).toEqual([
      'Request Cancellation changed nothing: the run goes on until its record has ended.',
      'A signal delete was ignored: no such signal is known.',
    ])
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('active')
  })
})

describe('the run of an agent that is being deleted', () => {
  test('ends what the agent has in reverse order of creation, and then the agent', async () => {
    const story = await play({
      readAgent: [deleting(ALL)],
      closeCards: [withoutCards],
      cancelIntents: [withoutIntents],
      endRuns: [withoutRuns],
      returnMoney: [withNothing],
      finishDeletion: [deleted],
    })
    expect(await story.ends()).toBe('deleted')
    expect(story.calls).toEqual([
      'readAgent',
      'closeCards',
      'cancelIntents',
      'endRuns',
      'returnMoney',
      'finishDeletion',
    ])
    expect(await story.run.timerSummaries()).toEqual([])
  })

  test.each([
    ['closeCards', deleting(ALL)],
    ['cancelIntents', withoutCards],
    ['endRuns', withoutIntents],
    ['returnMoney', withoutRuns],
    ['finishDeletion', withNothing],
  ])('begins with %s where that is left, as a run that is rebuilt from its record', async (name, left) => {
    const story = await play({ readAgent: [left], [name]: [deleted] })
    expect(await story.ends()).toBe('deleted')
    expect(story.calls).toEqual(['readAgent', name])
  })

  test('goes on at once with the next batch of many', async () => {
    const intents = ['intent_1', 'intent_501', 'intent_1001'].map(intent => deleting({ intent, wallet }))
    const story = await play({
      readAgent: intents,
      cancelIntents: [...intents.slice(1), withoutRuns],
      returnMoney: [withNothing],
      finishDeletion: [deleted],
    })
    expect(await story.ends()).toBe('deleted')
    expect(story.calls.filter(call => call === 'cancelIntents')).toHaveLength(3)
    expect(await story.run.timerSummaries()).toEqual([])
  })

  test('tries again while money of the agent is still held', async () => {
    const story = await play({
      readAgent: [withoutRuns],
      returnMoney: [deleting({ wallet }, 50), withNothing],
      finishDeletion: [deleted],
    })
    expect(await story.ends()).toBe('deleted')
    expect(await story.run.timerSummaries()).toEqual(['for its money to be returned'])
  })

  test('begins where the deletion is requested before the policy ends', async () => {
    const story = await play({
      readAgent: [ending(AN_HOUR), withoutRuns],
      returnMoney: [withNothing],
      finishDeletion: [deleted],
    })
    await story.waits(END)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('deleted')
    expect(story.calls).toEqual(['readAgent', 'readAgent', 'returnMoney', 'finishDeletion'])
  })

  test('repeats each step that fails until it succeeds', async () => {
    const away = new Error('the database is away')
    const story = await play({
      readAgent: [away, away, deleting(ALL)],
      closeCards: [away, withoutCards],
      cancelIntents: [away, withoutIntents],
      endRuns: [away, withoutRuns],
      returnMoney: [away, withNothing],
      finishDeletion: [away, deleted],
    })
    expect(await story.ends()).toBe('deleted')
    for (const name of ['closeCards', 'cancelIntents', 'endRuns', 'returnMoney', 'finishDeletion'])
      expect(story.calls.filter(call => call === name)).toHaveLength(2)
  })
})
