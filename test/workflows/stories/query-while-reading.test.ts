import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import type { CardActivities } from '../../../activities/cards.ts'
import { workflowBundle } from '../../../src/app/workflow-bundle.ts'
import { minutes } from '../../../src/values/clock.ts'
import { storyStage } from '../../support/temporal/stories.ts'
import { until } from '../../support/until.ts'
import { replayed } from '../replay/histories.ts'

const { play } = await storyStage<CardActivities>('card', ['readCard', 'decideCard', 'tellProcessor'])

const AN_HOUR = 3_600_000
const open = (status: string, next: 'tell' | 'end', dueInMs: number) => ({
  status,
  summary: `Card: ${status}`,
  closed: false,
  next,
  dueInMs,
  deadline: null,
  signals: ['freeze'],
})

const within = (ms: number): Promise<void> => sleep(Math.random() * ms)

/** Operators look at the run, and the card changes, while it is read. On a busy machine that takes longer. */
async function historyOfRun(slowness: number) {
  const { run, calls } = await play({
    readCard: [
      () => within(20 * slowness).then(() => open('pending', 'tell', 0)),
      open('pending', 'tell', 0),
      open('active', 'end', AN_HOUR),
    ],
    decideCard: ['Signal freeze by Ada: done.'],
    tellProcessor: [open('active', 'end', AN_HOUR)],
  })
  const looks = Array.from({ length: 8 }, () =>
    within(30 * slowness).then(() => run.handle.query('__temporal_workflow_metadata')),
  )
  const changes = ['recordChanged', 'recordChanged', 'freeze'].map(name =>
    within(60 * slowness).then(() => run.signal(name, { by: 'Ada', reason: 'Lost' })),
  )
  await Promise.all([...looks, ...changes])
  await until('it was decided', async () => calls.includes('decideCard freeze'))
  return JSON.parse(historyToJSON(await run.handle.fetchHistory()))
}

/** The state that was read is in an earlier workflow task than the one in which the run has used it, after a signal. */
const READ_BEFORE_A_SIGNAL = [
  'EVENT_TYPE_WORKFLOW_TASK_COMPLETED',
  'EVENT_TYPE_MARKER_RECORDED',
  'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED',
].join()

const isReadBeforeASignal = ({ events }: { events: readonly { eventType: string }[] }): boolean =>
  events
    .map(({ eventType }) => eventType)
    .join()
    .includes(READ_BEFORE_A_SIGNAL)

test('a run that a query and a signal met while it read its record is replayed as it went', async () => {
  const histories: unknown[] = []
  let slowness = 1
  await until('a run was met so', async () => {
    const some = await Promise.all(Array.from({ length: 16 }, () => historyOfRun(slowness)))
    slowness = Math.min(slowness * 2, 32)
    histories.push(...some.filter(isReadBeforeASignal))
    return histories.length > 0
  })
  const named = histories.map((history, n) => [`story/${n}`, history] as const)
  const errors = await replayed(await workflowBundle(), named)
  expect([...errors.values()].flat()).toEqual([])
})

/** The state may be seen in another workflow task than in a replay, long after it was read. */
test('a run whose state is seen minutes later is replayed as it went', async () => {
  const read = () => ({ ...open('active', 'end', AN_HOUR), readAtMs: Date.now() })
  const { run, calls } = await play({ readCard: [read] })
  await run.untilDetails('for its expiry or a change')
  await run.signal('recordChanged')
  await until(
    'it has read it again',
    async () => calls.length === 2 && (await run.timerSummaries()).length === 2,
  )
  const { events } = JSON.parse(historyToJSON(await run.handle.fetchHistory()))
  const signalled = events.findIndex(
    ({ eventType }: { eventType: string }) => eventType === 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED',
  )
  const seenLater = events.map((event: { eventTime: string }, n: number) =>
    n < signalled
      ? event
      : { ...event, eventTime: new Date(Date.parse(event.eventTime) + minutes(5)).toISOString() },
  )
  const errors = await replayed(await workflowBundle(), [['story/later', { events: seenLater }]])
  expect([...errors.values()].flat()).toEqual([])
})
